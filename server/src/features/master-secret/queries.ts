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
  toColumns,
} from '#server/db/statement.ts';

/**
 * The types of rows that depend on a master secret. Sealed texts and license keys can be rewritten without the hashed
 * data, other rows only with it.
 */
const STORED_TYPES = [
  'licenses',
  'license_keys',
  'signing_keys',
  'webhook_secrets',
  'operator_totp',
  'machines',
  'trial_claims',
  'suppressions',
  'subscribers',
  'usage_machines',
] as const;

export type StoredType = (typeof STORED_TYPES)[number];

/** The number of rows of a type that are stored under a master secret. */
export interface StoredCount {
  readonly kind: StoredType;
  /** The id of the master secret, 6 hex digits. */
  readonly secretId: string;
  readonly rows: number;
}

/** A sealed text contains the id of its secret after the version byte, a hash at its start. */
const SEALED = (column: string): string => `encode(substring(${column} from 2 for 3), 'hex')`;
const HASHED = (column: string): string => `encode(substring(${column} from 1 for 3), 'hex')`;

const SOURCES: Readonly<Record<StoredType, string>> = {
  licenses: `select ${SEALED('key_sealed')} as secret_id from licenses
    union all select ${SEALED('key_sealed')} from license_pool_keys where key_sealed is not null
    union all select ${SEALED('key_sealed')} from license_added_keys`,
  license_keys: `select ${HASHED('key_hash')} as secret_id from license_keys`,
  signing_keys: `select ${SEALED('private_key_sealed')} as secret_id from signing_keys`,
  webhook_secrets: `select ${SEALED('secret_sealed')} as secret_id from webhook_endpoints
    union all select ${SEALED('previous_secret_sealed')} from webhook_endpoints
    where previous_secret_sealed is not null and previous_secret_until > now()`,
  operator_totp: `select ${SEALED('totp_sealed')} as secret_id from operators where totp_sealed is not null`,
  // Deactivated machines are not compared.
  machines: `select left(machine_digest, 6) as secret_id from activations where deactivated_at is null`,
  trial_claims: `select ${HASHED('claim_hash')} as secret_id from trial_claims`,
  suppressions: `select ${HASHED('address_hash')} as secret_id from suppressions`,
  subscribers: `select ${HASHED('address_hash')} as secret_id from subscribers`,
  usage_machines: `select left(machine_key::text, 6) as secret_id from usage_first_days`,
};

const listSealingStatement = defineStatement(
  'master_secret_list_sealing',
  Type.Object({ secretId: Type.String() }),
  `select distinct secret_id from (${SOURCES.signing_keys}) source order by secret_id`,
);

/** Returns the ids of the master secrets that the signing keys are sealed under. */
export async function listSealingSecretIds(db: Queryable): Promise<string[]> {
  return (await queryRows(db, listSealingStatement)).map(({ secretId }) => secretId);
}

const countStatement = defineStatement(
  'master_secret_count_rows',
  Type.Object({
    kind: Type.Enum(STORED_TYPES),
    secretId: Type.String(),
    rows: Type.Integer(),
  }),
  STORED_TYPES.map(
    (kind) =>
      `select '${kind}' as kind, secret_id, count(*) as rows from (${SOURCES[kind]}) source group by secret_id`,
  ).join(' union all '),
);

/** Counts all rows by type and master secret; reads whole tables. */
export async function countStoredRows(db: Queryable): Promise<StoredCount[]> {
  const rows = await queryRows(db, countStatement);
  return rows.sort((a, b) => STORED_TYPES.indexOf(a.kind) - STORED_TYPES.indexOf(b.kind));
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

/** Lists a page of the e-mail addresses that are stored in plain text, sorted and unique. */
export async function listKnownAddresses(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, addressStatement, [after, limit])).map(({ email }) => email);
}

const machineStatement = defineStatement(
  'master_secret_list_machine_ids',
  Type.Object({ machineId: Type.String() }),
  `select distinct machine_id from activations where machine_id > $1 order by machine_id limit $2`,
);

/** Lists a page of the machine ids of activations, sorted and unique. */
export async function listKnownMachineIds(
  db: Queryable,
  after: string,
  limit: number,
): Promise<string[]> {
  return (await queryRows(db, machineStatement, [after, limit])).map(({ machineId }) => machineId);
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
 * Counts the connected kinds of processes that cannot read rows stored under a master secret. The application name of a
 * connection contains the ids of its process's secrets; a pooler may hide them.
 */
export async function countOutdatedProcesses(db: Queryable, secretId: string): Promise<number> {
  return (await queryRow(db, countProcessesStatement, [APPLICATION_NAME, secretId]))?.count ?? 0;
}

const SealedLicenseRow = Type.Object({ id: Type.String(), keySealed: Bytes });

/** The sealed key of a license. */
export interface SealedLicense {
  readonly id: string;
  readonly keySealed: Buffer;
}

const listStatement = defineStatement(
  'master_secret_list_licenses',
  SealedLicenseRow,
  `select id, key_sealed from licenses
   where id > $1 and substring(key_sealed from 2 for 3) <> decode($2, 'hex')
   order by id limit $3`,
);

/** Lists a page of the licenses whose keys are not sealed under a master secret. */
export async function listOutdatedLicenses(
  db: Queryable,
  after: string,
  secretId: string,
  limit: number,
): Promise<SealedLicense[]> {
  return queryRows(db, listStatement, [after, secretId, limit]);
}

const lockStatement = defineStatement(
  'master_secret_lock_licenses',
  SealedLicenseRow,
  'select id, key_sealed from licenses where id = any ($1::uuid[]) order by id for update',
);

/** Locks licenses in the order of their ids, and returns their sealed keys. */
export async function lockSealedLicenses(
  db: Queryable,
  ids: readonly string[],
): Promise<SealedLicense[]> {
  return queryRows(db, lockStatement, [ids]);
}

const updateStatement = defineCommand(
  'master_secret_update_licenses',
  `update licenses l set key_sealed = new.key_sealed
   from unnest($1::uuid[], $2::bytea[]) as new (id, key_sealed) where l.id = new.id`,
);

/** Stores the sealed keys of locked licenses. */
export async function updateSealedLicenses(
  db: Queryable,
  licenses: readonly SealedLicense[],
): Promise<void> {
  await execute(db, updateStatement, toColumns(licenses, ['id', 'keySealed']));
}
