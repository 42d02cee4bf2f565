import { Type } from 'typebox';

import {
  Bytes,
  Nullable,
  Timestamp,
  defineCommand,
  defineStatement,
  execute,
  queryRows,
  type Queryable,
} from '#server/db/statement.ts';

/** A signing key as it is stored. */
export interface SigningKeyRecord {
  readonly kid: string;
  readonly privateKeySealed: Buffer;
  readonly createdAt: Date;
  /** From then on it signs. */
  readonly activeFrom: Date;
  /** When another key replaces it; null until one is announced. */
  readonly retiredAt: Date | null;
}

const listStatement = defineStatement(
  'signing_key_list',
  Type.Object({
    kid: Type.String(),
    privateKeySealed: Bytes,
    createdAt: Timestamp,
    activeFrom: Timestamp,
    retiredAt: Nullable.Timestamp,
  }),
  `select kid, private_key_sealed, created_at, active_from, retired_at
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
