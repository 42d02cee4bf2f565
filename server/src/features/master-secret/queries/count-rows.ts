import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

/**
 * What is stored under a master secret: sealed texts and license keys can be rewritten without the data that was hashed,
 * the others only where that data is at hand.
 */
const STORED_KINDS = [
  'licenses',
  'license_keys',
  'signing_keys',
  'webhook_secrets',
  'machines',
  'trial_claims',
  'suppressions',
  'subscribers',
  'usage_machines',
] as const;

export type StoredKind = (typeof STORED_KINDS)[number];

/** How many rows of a kind are stored under a master secret. */
export interface StoredCount {
  readonly kind: StoredKind;
  /** Id of the master secret, 6 hex digits. */
  readonly secretId: string;
  readonly rows: number;
}

/** A sealed text names its secret behind the version byte, a hash at its start. */
const SEALED = (column: string): string => `encode(substring(${column} from 2 for 3), 'hex')`;
const HASHED = (column: string): string => `encode(substring(${column} from 1 for 3), 'hex')`;

const SOURCES: Readonly<Record<StoredKind, string>> = {
  licenses: `select ${SEALED('key_sealed')} as secret_id from licenses`,
  license_keys: `select ${HASHED('key_hash')} as secret_id from license_keys`,
  signing_keys: `select ${SEALED('private_key_sealed')} as secret_id from signing_keys`,
  webhook_secrets: `select ${SEALED('secret_sealed')} as secret_id from webhook_endpoints
    union all select ${SEALED('previous_secret_sealed')} from webhook_endpoints
    where previous_secret_sealed is not null and previous_secret_until > now()`,
  // Nothing is compared with a machine that was deactivated.
  machines: `select left(machine_digest, 6) as secret_id from activations where deactivated_at is null`,
  trial_claims: `select ${HASHED('claim_hash')} as secret_id from trial_claims`,
  suppressions: `select ${HASHED('address_hash')} as secret_id from suppressions`,
  subscribers: `select ${HASHED('address_hash')} as secret_id from subscribers`,
  usage_machines: `select left(machine_key::text, 6) as secret_id from usage_first_days`,
};

const countStatement = defineStatement(
  'master_secret_count_rows',
  Type.Object({ kind: Type.String(), secret_id: Type.String(), rows: Type.Integer() }),
  STORED_KINDS.map(
    (kind) =>
      `select '${kind}' as kind, secret_id, count(*) as rows from (${SOURCES[kind]}) stored group by secret_id`,
  ).join(' union all '),
);

/** Counts all rows by kind and master secret; reads whole tables. */
export async function countStoredRows(db: Queryable): Promise<StoredCount[]> {
  const rows = await queryRows(db, countStatement);
  return STORED_KINDS.flatMap((kind) =>
    rows
      .filter((row) => row.kind === kind)
      .map((row) => ({ kind, secretId: row.secret_id, rows: row.rows })),
  );
}
