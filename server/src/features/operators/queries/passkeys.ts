import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const PasskeyRow = Type.Object({
  id: Type.String(),
  operatorId: Type.String(),
  credentialId: Bytes,
  publicKey: Bytes,
  signCount: Type.Integer(),
  isBackupEligible: Nullable.Boolean,
  isSynced: Type.Boolean(),
  name: Type.String(),
  createdAt: Timestamp,
  lastUsedAt: Nullable.Timestamp,
});

/** A stored passkey. */
export type PasskeyRecord = Readonly<Static<typeof PasskeyRow>>;

const COLUMNS = columnsOf(PasskeyRow);

const insertStatement = defineCommand(
  'operator_passkey_insert',
  `insert into operator_passkeys
     (id, operator_id, credential_id, public_key, sign_count, is_backup_eligible, is_synced, name, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing`,
);

/** Stores a passkey; returns false when its credential is registered already, also by another operator. */
export async function insertPasskey(db: Queryable, passkey: PasskeyRecord): Promise<boolean> {
  const { id, operatorId, credentialId, publicKey, signCount, name, createdAt } = passkey;
  const flags = [passkey.isBackupEligible, passkey.isSynced];
  const values = [id, operatorId, credentialId, publicKey, signCount, ...flags, name, createdAt];
  return (await execute(db, insertStatement, values)) === 1;
}

const listStatement = defineStatement(
  'operator_passkey_list',
  PasskeyRow,
  `select ${COLUMNS} from operator_passkeys where operator_id = $1 order by created_at, id`,
);

/** Lists the passkeys of an operator, oldest first. */
export async function listPasskeyRecords(
  db: Queryable,
  operatorId: string,
): Promise<PasskeyRecord[]> {
  return queryRows(db, listStatement, [operatorId]);
}

const findStatement = defineStatement(
  'operator_passkey_find',
  PasskeyRow,
  `select ${COLUMNS} from operator_passkeys where credential_id = $1`,
);

/** Finds the passkey of a credential. */
export async function findPasskey(
  db: Queryable,
  credentialId: Buffer,
): Promise<PasskeyRecord | null> {
  return queryRow(db, findStatement, [credentialId]);
}

const lockStatement = defineStatement(
  'operator_passkey_lock',
  PasskeyRow,
  `select ${COLUMNS} from operator_passkeys where id = $1 for update`,
);

/** Locks a passkey until the transaction ends; null when it was removed. */
export async function lockPasskey(db: Queryable, id: string): Promise<PasskeyRecord | null> {
  return queryRow(db, lockStatement, [id]);
}

interface PasskeyUse {
  readonly signCount: number;
  readonly isBackupEligible: boolean;
  readonly isSynced: boolean;
}

const recordUseStatement = defineCommand(
  'operator_passkey_record_use',
  `update operator_passkeys
   set sign_count = $2, is_backup_eligible = $3, is_synced = $4, last_used_at = $5 where id = $1`,
);

/** Records a use of a passkey, and whether it may be synced, which earlier versions did not store. */
export async function recordPasskeyUse(
  db: Queryable,
  id: string,
  { signCount, isBackupEligible, isSynced }: PasskeyUse,
  now: Date,
): Promise<void> {
  await execute(db, recordUseStatement, [id, signCount, isBackupEligible, isSynced, now]);
}

const deleteStatement = defineCommand(
  'operator_passkey_delete',
  'delete from operator_passkeys where operator_id = $1 and id = $2',
);

/** Deletes one passkey of an operator; returns whether there was one. */
export async function deletePasskey(
  db: Queryable,
  operatorId: string,
  id: string,
): Promise<boolean> {
  return (await execute(db, deleteStatement, [operatorId, id])) === 1;
}

const deleteAllStatement = defineCommand(
  'operator_passkey_delete_all',
  'delete from operator_passkeys where operator_id = $1',
);

/** Deletes the passkeys of an operator. */
export async function deletePasskeys(db: Queryable, operatorId: string): Promise<void> {
  await execute(db, deleteAllStatement, [operatorId]);
}

const countStatement = defineStatement(
  'operator_passkey_count',
  Type.Object({ count: Type.Integer() }),
  'select count(*) as count from operator_passkeys where operator_id = $1',
);

/** Counts the passkeys of an operator. */
export async function countPasskeys(db: Queryable, operatorId: string): Promise<number> {
  return (await queryRow(db, countStatement, [operatorId]))?.count ?? 0;
}

const useChallengeStatement = defineCommand(
  'operator_challenge_use',
  `with expired as (delete from operator_used_challenges where expires_at <= $3)
   insert into operator_used_challenges (challenge_hash, expires_at) values ($1, $2)
   on conflict do nothing`,
);

/** Marks a challenge as used; returns false if it was used before. */
export async function markChallengeUsed(
  db: Queryable,
  challengeHash: Buffer,
  expiresAt: Date,
  now: Date,
): Promise<boolean> {
  return (await execute(db, useChallengeStatement, [challengeHash, expiresAt, now])) === 1;
}
