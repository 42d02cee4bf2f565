import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  type Queryable,
} from '#server/db/statement.ts';

const insertStatement = defineCommand(
  'operator_recovery_insert',
  `insert into operator_recovery_codes (operator_id, code_hash)
   select $1::uuid, code_hash from unnest($2::bytea[]) as codes (code_hash)`,
);

/** Stores the hashes of the recovery codes of an operator. */
export async function insertRecoveryCodes(
  db: Queryable,
  operatorId: string,
  codeHashes: readonly Buffer[],
): Promise<void> {
  await execute(db, insertStatement, [operatorId, codeHashes]);
}

const deleteStatement = defineCommand(
  'operator_recovery_delete',
  'delete from operator_recovery_codes where operator_id = $1',
);

/** Deletes the recovery codes of an operator. */
export async function deleteRecoveryCodes(db: Queryable, operatorId: string): Promise<void> {
  await execute(db, deleteStatement, [operatorId]);
}

const useStatement = defineCommand(
  'operator_recovery_use',
  `update operator_recovery_codes set used_at = $3
   where operator_id = $1 and code_hash = $2 and used_at is null`,
);

/** Marks a recovery code as used; returns false if there is none or it was used before. */
export async function markRecoveryCodeUsed(
  db: Queryable,
  operatorId: string,
  codeHash: Buffer,
  now: Date,
): Promise<boolean> {
  return (await execute(db, useStatement, [operatorId, codeHash, now])) === 1;
}

const countStatement = defineStatement(
  'operator_recovery_count',
  Type.Object({ count: Type.Integer() }),
  'select count(*) as count from operator_recovery_codes where operator_id = $1 and used_at is null',
);

/** Counts the recovery codes of an operator that were not used. */
export async function countRecoveryCodes(db: Queryable, operatorId: string): Promise<number> {
  return (await queryRow(db, countStatement, [operatorId]))?.count ?? 0;
}
