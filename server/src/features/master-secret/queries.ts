import { Type } from 'typebox';

import { APPLICATION_NAME } from '#server/db/pool.ts';
import {
  defineStatement,
  queryRows,
  type Queryable,
  queryRow,
  Bytes,
  defineCommand,
  execute,
} from '#server/db/statement.ts';

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

const addressStatement = defineStatement(
  'master_secret_list_addresses',
  Type.Object({ email: Type.String() }),
  `select email from (
     select email from subscribers where email > $1
     union select customer_email from licenses where customer_email > $1
     union select email from billing_customers where email > $1
   ) known order by email limit $2`,
);

/** The e-mail addresses after one that are stored readable somewhere, in order, each once. */
export async function listKnownAddresses(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, addressStatement, [after, limit])).map(({ email }) => email);
}

const machineStatement = defineStatement(
  'master_secret_list_machine_ids',
  Type.Object({ machine_id: Type.String() }),
  `select distinct machine_id from activations where machine_id > $1 order by machine_id limit $2`,
);

/** The ids of machines after one that activations hold, in order, each once. */
export async function listKnownMachineIds(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, machineStatement, [after, limit])).map((row) => row.machine_id);
}

const countProcessesStatement = defineStatement(
  'master_secret_count_outdated_processes',
  Type.Object({ count: Type.Integer() }),
  `select count(distinct coalesce(client_addr::text, '') || application_name) as count
   from pg_stat_activity
   where datname = current_database() and application_name like $1 || ' %'
     and not ($2 = any (string_to_array(application_name, ' ')))`,
);

/**
 * How many kinds of processes are connected that cannot read what is stored under a master secret. Connections name the
 * secrets of their process; a pooler may hide them.
 */
export async function countOutdatedProcesses(db: Queryable, secretId: string): Promise<number> {
  return (await queryRow(db, countProcessesStatement, [APPLICATION_NAME, secretId]))?.count ?? 0;
}

/** The sealed key of a license. */
export interface SealedLicense {
  readonly id: string;
  readonly keySealed: Buffer;
}

const listStatement = defineStatement(
  'master_secret_list_licenses',
  Type.Object({ id: Type.String(), key_sealed: Bytes }),
  `select id, key_sealed from licenses
   where id > $1 and substring(key_sealed from 2 for 3) <> decode($2, 'hex')
   order by id limit $3`,
);

/** The licenses after an id whose keys are not sealed under the master secret of this id. */
export async function listOutdatedLicenses(
  db: Queryable,
  after: string,
  secretId: string,
  limit: number,
): Promise<SealedLicense[]> {
  const rows = await queryRows(db, listStatement, [after, secretId, limit]);
  return rows.map((row) => ({ id: row.id, keySealed: row.key_sealed }));
}

const lockStatement = defineStatement(
  'master_secret_lock_licenses',
  Type.Object({ id: Type.String(), key_sealed: Bytes }),
  'select id, key_sealed from licenses where id = any ($1::uuid[]) order by id for update',
);

/** Locks licenses in the order of their ids and reads their sealed keys. */
export async function lockSealedLicenses(
  db: Queryable,
  ids: readonly string[],
): Promise<SealedLicense[]> {
  const rows = await queryRows(db, lockStatement, [ids]);
  return rows.map((row) => ({ id: row.id, keySealed: row.key_sealed }));
}

const updateStatement = defineCommand(
  'master_secret_update_licenses',
  `update licenses l set key_sealed = fresh.key_sealed
   from unnest($1::uuid[], $2::bytea[]) as fresh (id, key_sealed) where l.id = fresh.id`,
);

/** Stores the sealed keys of locked licenses. */
export async function updateSealedLicenses(
  db: Queryable,
  licenses: readonly SealedLicense[],
): Promise<void> {
  await execute(db, updateStatement, [
    licenses.map(({ id }) => id),
    licenses.map(({ keySealed }) => keySealed),
  ]);
}
