import { Type, type Static } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

const SigningKeyRow = Type.Object({
  kid: Type.String(),
  privateKeySealed: Bytes,
  createdAt: Timestamp,
  /** From then on it signs. */
  activeFrom: Timestamp,
  /** When another key replaces it; null until one is announced. */
  retiredAt: Nullable.Timestamp,
});

/** A signing key as it is stored. */
export type SigningKeyRecord = Readonly<Static<typeof SigningKeyRow>>;

const listStatement = defineStatement(
  'signing_key_list',
  SigningKeyRow,
  `select ${columnsOf(SigningKeyRow)}
   from signing_keys order by created_at, active_from, kid`,
);

/** Lists all signing keys, oldest first. */
export async function listSigningKeys(db: Queryable): Promise<SigningKeyRecord[]> {
  return queryRows(db, listStatement);
}

const lockStatement = defineCommand(
  'signing_key_lock',
  'lock table signing_keys in share row exclusive mode',
);

/** Prevents other processes from adding a key until the transaction ends. */
export async function lockSigningKeys(db: Queryable): Promise<void> {
  await execute(db, lockStatement);
}

const insertStatement = defineCommand(
  'signing_key_insert',
  `insert into signing_keys (kid, private_key_sealed, created_at, active_from, retired_at)
   values ($1, $2, $3, $4, $5)`,
);

/** Stores a new signing key. */
export async function insertSigningKey(db: Queryable, key: SigningKeyRecord): Promise<void> {
  await execute(db, insertStatement, [
    key.kid,
    key.privateKeySealed,
    key.createdAt,
    key.activeFrom,
    key.retiredAt,
  ]);
}

const replaceStatement = defineCommand(
  'signing_key_replace_seal',
  'update signing_keys set private_key_sealed = $2, retired_at = $3 where kid = $1',
);

/** Replaces the seal of a key, and its retirement. */
export async function replaceSigningKeySeal(db: Queryable, key: SigningKeyRecord): Promise<void> {
  await execute(db, replaceStatement, [key.kid, key.privateKeySealed, key.retiredAt]);
}
