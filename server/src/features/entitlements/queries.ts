import { Type } from 'typebox';

import {
  Bytes,
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
  /** SPKI DER. */
  readonly publicKey: Buffer;
  readonly privateKeySealed: Buffer;
  readonly createdAt: Date;
  /** From this moment on it signs, until that of a younger key comes. */
  readonly activeFrom: Date;
}

const listStatement = defineStatement(
  'signing_key_list',
  Type.Object({
    kid: Type.String(),
    public_key: Bytes,
    private_key_sealed: Bytes,
    created_at: Timestamp,
    active_from: Timestamp,
  }),
  `select kid, public_key, private_key_sealed, created_at, active_from
   from signing_keys order by created_at, active_from, kid`,
);

/** All signing keys, in the order in which they were made. */
export async function listSigningKeys(db: Queryable): Promise<SigningKeyRecord[]> {
  const rows = await queryRows(db, listStatement);
  return rows.map((row) => ({
    kid: row.kid,
    publicKey: row.public_key,
    privateKeySealed: row.private_key_sealed,
    createdAt: row.created_at,
    activeFrom: row.active_from,
  }));
}

const lockStatement = defineCommand(
  'signing_key_lock',
  'lock table signing_keys in share row exclusive mode',
);

/** Keeps other processes from adding a key until the transaction ends. */
export async function lockSigningKeys(db: Queryable): Promise<void> {
  await execute(db, lockStatement);
}

const insertStatement = defineCommand(
  'signing_key_insert',
  `insert into signing_keys (kid, public_key, private_key_sealed, created_at, active_from)
   values ($1, $2, $3, $4, $5)`,
);

/** Stores a new signing key. */
export async function insertSigningKey(db: Queryable, key: SigningKeyRecord): Promise<void> {
  await execute(db, insertStatement, [
    key.kid,
    key.publicKey,
    key.privateKeySealed,
    key.createdAt,
    key.activeFrom,
  ]);
}
