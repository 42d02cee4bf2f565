import { Type } from 'typebox';

import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

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
