import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import { runHot, type TextRow } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';
import { toByteaArray, toUuidArray } from '#server/db/text-arrays.ts';

import type { ActivationFacts, LicenseStanding } from '../rules/facts.ts';

/** Which license, and which of its activations, somebody asks for. */
export interface KeyLookup {
  /** HMAC of the key, hexadecimal. */
  readonly keyHash: string;
  readonly activationId: string | null;
}

/** What the key leads to. */
export interface KeyFinding {
  readonly license: LicenseStanding;
  /** Null when this license has no activation of that id. */
  readonly activation: (ActivationFacts & { readonly entitlementProof: string | null }) | null;
}

/**
 * One row for each key that is known. What hardly any license has (a pause, a refund …) comes packed in one column that
 * is null for all others: each column costs Node about 0.3 µs a row, even when it is empty.
 */
const findLicensesByKey = {
  name: 'license_find_by_key',
  text: `
    select
      lookup.position,
      l.id,
      l.product_id,
      l.trial,
      l.subscription,
      extract(epoch from l.expires_at) * 1000,
      case when num_nonnulls(l.cancel_scheduled_for, l.canceled_at, l.paused_at,
                             l.suspended_at, l.disputed_at, l.refunded_at, l.revoked_at, a.deactivated_at) > 0
        then json_build_array(l.cancel_scheduled_for, l.canceled_at, l.paused_at,
                              l.suspended_at, l.refunded_at, l.revoked_at, a.deactivated_at,
                              l.disputed_at)
      end,
      a.id,
      a.machine_id,
      a.entitlement_proof
    from unnest($1::bytea[], $2::uuid[]) with ordinality as lookup (key_hash, activation_id, position)
    join license_keys k on k.key_hash = lookup.key_hash
    join licenses l on l.id = k.license_id
    left join activations a on a.license_id = l.id and a.id = lookup.activation_id`,
};

/**
 * Finds licenses by their keys, each with one of its activations: one statement for all, one answer for each, in order;
 * null for a key that nobody has.
 */
export async function findLicensesByKeys(
  db: Queryable,
  lookups: readonly KeyLookup[],
): Promise<readonly (KeyFinding | null)[]> {
  const { rows } = await runHot(db, findLicensesByKey, [
    toByteaArray(lookups.map((lookup) => lookup.keyHash)),
    toUuidArray(lookups.map((lookup) => lookup.activationId)),
  ]);
  const findings: (KeyFinding | null)[] = lookups.map(() => null);
  for (const row of rows) findings[Number(row[0]) - 1] = readFinding(row);
  return findings;
}

function readFinding(row: TextRow): KeyFinding {
  const [, id, productId, trial, subscription, expiresAt, exceptions, ...activation] = row;
  const [
    cancelScheduledFor = null,
    canceledAt = null,
    pausedAt = null,
    suspendedAt = null,
    refundedAt = null,
    revokedAt = null,
    deactivatedAt = null,
    disputedAt = null,
  ] = readExceptions(exceptions ?? null);
  const license = {
    id: required(id),
    productId: required(productId),
    trial: trial === 't',
    subscription: subscription === 't',
    expiresAt: expiresAt == null ? null : new Date(Number(expiresAt)),
    cancelScheduledFor,
    canceledAt,
    pausedAt,
    suspendedAt,
    refundedAt,
    revokedAt,
    disputedAt,
  };
  return { license, activation: readActivation(activation, license.id, deactivatedAt) };
}

function readActivation(
  [id = null, machineId = null, entitlementProof = null]: TextRow,
  licenseId: string,
  deactivatedAt: Date | null,
): KeyFinding['activation'] {
  return id === null ? null : { id, licenseId, machineId, deactivatedAt, entitlementProof };
}

const Moment = Type.Union([Type.String(), Type.Null()]);
const Exceptions = Compile(Type.Array(Moment, { minItems: 8, maxItems: 8 }));

/** Empty for a license without any, as nearly all are. */
function readExceptions(json: string | null): (Date | null)[] {
  return json === null ? [] : Exceptions.Parse(JSON.parse(json)).map(toDate);
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

function required(text: string | null | undefined): string {
  if (text == null) throw new Error('license_find_by_key gave null for a column that has none');
  return text;
}
