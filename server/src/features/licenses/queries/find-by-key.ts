import { Type } from 'typebox';
import { Compile } from 'typebox/schema';

import { runHot, type TextRow, toByteaArray, toUuidArray } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';

import type { ActivationFacts, LicenseStatusFacts } from '../rules/facts.ts';

/** The license and the activation that a client names. */
export interface KeyLookup {
  /** HMAC of the key, hexadecimal. */
  readonly keyHash: string;
  readonly activationId: string | null;
}

/** The license of a key. */
export interface FoundLicense {
  readonly license: LicenseStatusFacts;
  /** Null when this license has no activation of that id. */
  readonly activation: (ActivationFacts & { readonly entitlementProof: string | null }) | null;
}

/**
 * The timestamps of license `l` and activation `a` that are null for nearly all of them, packed into one column that then
 * is null itself: each column costs Node about 0.3 µs a row, even when it is empty.
 */
export const RARE_TIMESTAMPS = `
  case when num_nonnulls(l.cancel_scheduled_for, l.canceled_at, l.paused_at,
                         l.suspended_at, l.disputed_at, l.refunded_at, l.revoked_at, a.deactivated_at) > 0
    then json_build_array(l.cancel_scheduled_for, l.canceled_at, l.paused_at,
                          l.suspended_at, l.refunded_at, l.revoked_at, a.deactivated_at,
                          l.disputed_at)
  end`;

/**
 * Milliseconds from 1970 to the end of license `l`, and after a slash to the end of its updates, which few have: a column for
 * both costs less than two.
 */
export const LICENSE_ENDS = `
  case when l.updates_until is null then (extract(epoch from l.expires_at) * 1000)::text
    else concat(extract(epoch from l.expires_at) * 1000, '/', extract(epoch from l.updates_until) * 1000)
  end`;

/** Bits of the column that packs the booleans of a license. */
export const [TRIAL, SUBSCRIPTION] = [1, 2];

const findStatement = {
  name: 'license_find_by_key',
  text: `
    select
      lookup.position,
      l.id,
      l.product_id,
      l.trial::int * ${TRIAL} + l.subscription::int * ${SUBSCRIPTION},
      ${LICENSE_ENDS},
      ${RARE_TIMESTAMPS},
      a.id,
      a.machine_id,
      a.entitlement_proof
    from unnest($1::bytea[], $2::uuid[]) with ordinality as lookup (key_hash, activation_id, position)
    join license_keys k on k.key_hash = lookup.key_hash
    join licenses l on l.id = k.license_id
    left join activations a on a.license_id = l.id and a.id = lookup.activation_id`,
};

/** Returns the license of each key and the activation named with it, in order; null for an unknown key. */
export async function findLicensesByKeys(
  db: Queryable,
  lookups: readonly KeyLookup[],
): Promise<readonly (FoundLicense | null)[]> {
  const { rows } = await runHot(db, findStatement, [
    toByteaArray(lookups.map((lookup) => lookup.keyHash)),
    toUuidArray(lookups.map((lookup) => lookup.activationId)),
  ]);
  const found: (FoundLicense | null)[] = lookups.map(() => null);
  for (const row of rows) found[Number(row[0]) - 1] = readRow(row);
  return found;
}

function readRow(row: TextRow): FoundLicense {
  const timestamps = readRareTimestamps(row[5]);
  const license = readLicense(row, timestamps);
  const id = row[6] ?? null;
  if (id === null) return { license, activation: null };
  const machineId = row[7] ?? null;
  const entitlementProof = row[8] ?? null;
  const { deactivatedAt } = timestamps;
  const activation = { id, licenseId: license.id, machineId, deactivatedAt, entitlementProof };
  return { license, activation };
}

/** The timestamps of {@link RARE_TIMESTAMPS}. */
export type RareTimestamps = Omit<
  LicenseStatusFacts,
  'id' | 'productId' | 'trial' | 'subscription' | 'expiresAt' | 'updatesUntil'
> &
  Pick<ActivationFacts, 'deactivatedAt'>;

const NONE: RareTimestamps = {
  cancelScheduledFor: null,
  canceledAt: null,
  pausedAt: null,
  suspendedAt: null,
  refundedAt: null,
  revokedAt: null,
  deactivatedAt: null,
  disputedAt: null,
};

const TimestampOrNull = Type.Union([Type.String(), Type.Null()]);
const RareTimestampsColumn = Compile(Type.Array(TimestampOrNull, { minItems: 8, maxItems: 8 }));

/** Parses the column {@link RARE_TIMESTAMPS}. */
export function readRareTimestamps(json: string | null | undefined): RareTimestamps {
  if (json == null) return NONE;
  const dates = RareTimestampsColumn.Parse(JSON.parse(json)).map((text) =>
    text === null ? null : new Date(text),
  );
  return {
    cancelScheduledFor: dates[0] ?? null,
    canceledAt: dates[1] ?? null,
    pausedAt: dates[2] ?? null,
    suspendedAt: dates[3] ?? null,
    refundedAt: dates[4] ?? null,
    revokedAt: dates[5] ?? null,
    deactivatedAt: dates[6] ?? null,
    disputedAt: dates[7] ?? null,
  };
}

/** Reads a license from the second to the fifth column: id, product, flags, and {@link LICENSE_ENDS}. */
export function readLicense(row: TextRow, timestamps: RareTimestamps): LicenseStatusFacts {
  const id = row[1];
  const productId = row[2];
  if (id == null || productId == null) throw new Error('a statement returned a license without id');
  const flags = Number(row[3]);
  const [expiresAtMs, updatesUntilMs] = row[4]?.split('/', 2) ?? [];
  return {
    id,
    productId,
    trial: (flags & TRIAL) !== 0,
    subscription: (flags & SUBSCRIPTION) !== 0,
    expiresAt: readTime(expiresAtMs),
    updatesUntil: readTime(updatesUntilMs),
    cancelScheduledFor: timestamps.cancelScheduledFor,
    canceledAt: timestamps.canceledAt,
    pausedAt: timestamps.pausedAt,
    suspendedAt: timestamps.suspendedAt,
    refundedAt: timestamps.refundedAt,
    revokedAt: timestamps.revokedAt,
    disputedAt: timestamps.disputedAt,
  };
}

function readTime(milliseconds: string | undefined): Date | null {
  return milliseconds === undefined || milliseconds === '' ? null : new Date(Number(milliseconds));
}
