import { runHot, type TextRow } from '#server/db/hot-statement.ts';
import type { Queryable } from '#server/db/statement.ts';
import { toByteaArray, toUuidArray } from '#server/db/text-arrays.ts';

import {
  EXCEPTIONS,
  readExceptions,
  readMoment,
  required,
  toStanding,
  type KeyFinding,
} from './license-columns.ts';

export type { KeyFinding };

/** Which license, and which of its activations, a client asks for. */
export interface KeyLookup {
  /** HMAC of the key, hexadecimal. */
  readonly keyHash: string;
  readonly activationId: string | null;
}

/** One row for each key that is known. */
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
      ${EXCEPTIONS},
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
  const exceptions = readExceptions(row[6]);
  const license = toStanding(
    {
      id: required(row[1]),
      productId: required(row[2]),
      trial: row[3] === 't',
      subscription: row[4] === 't',
      expiresAt: readMoment(row[5]),
    },
    exceptions,
  );
  return { license, activation: readActivation(row, license.id, exceptions.deactivatedAt) };
}

function readActivation(
  row: TextRow,
  licenseId: string,
  deactivatedAt: Date | null,
): KeyFinding['activation'] {
  const id = row[7] ?? null;
  if (id === null) return null;
  const [machineId = null, entitlementProof = null] = [row[8], row[9]];
  return { id, licenseId, machineId, deactivatedAt, entitlementProof };
}
