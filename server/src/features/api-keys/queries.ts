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

export const ApiKeyRow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  /** SHA-256 of the key. */
  keyHash: Bytes,
  /** The last symbols of the key. */
  keyHint: Type.String(),
  /** A later version may have stored scopes that are unknown to this one. */
  scopes: Type.Array(Type.String()),
  createdAt: Timestamp,
  expiresAt: Nullable.Timestamp,
  /** To the minute. */
  lastUsedAt: Nullable.Timestamp,
  revokedAt: Nullable.Timestamp,
  replacedBy: Nullable.Text,
});

/** A stored API key, without the key itself. */
export type ApiKeyRecord = Readonly<Static<typeof ApiKeyRow>>;

const COLUMNS = columnsOf(ApiKeyRow);

const findByHashStatement = defineStatement(
  'api_key_find_by_hash',
  ApiKeyRow,
  `select ${COLUMNS} from api_keys where key_hash = $1`,
);

/** Finds a key by its SHA-256. */
export async function findApiKeyByHash(
  db: Queryable,
  keyHash: Buffer,
): Promise<ApiKeyRecord | null> {
  return queryRow(db, findByHashStatement, [keyHash]);
}

const findIdStatement = defineStatement(
  'api_key_find_id',
  Type.Object({ id: Type.String() }),
  `select id from api_keys
   where id::text = lower($1) or (name = $1 and revoked_at is null and replaced_by is null)`,
);

/** Finds the id of the key with an id or a present name. */
export async function findApiKeyId(db: Queryable, idOrName: string): Promise<string | null> {
  return (await queryRow(db, findIdStatement, [idOrName]))?.id ?? null;
}

const lockStatement = defineCommand(
  'api_key_lock',
  'lock table api_keys in share row exclusive mode',
);

/** Prevents other changes of API keys until the transaction ends, but not reads. */
export async function lockApiKeys(db: Queryable): Promise<void> {
  await execute(db, lockStatement);
}

const findStatement = defineStatement(
  'api_key_find',
  ApiKeyRow,
  `select ${COLUMNS} from api_keys where id = $1`,
);

/** Finds a key by its id. */
export async function findApiKey(db: Queryable, id: string): Promise<ApiKeyRecord | null> {
  return queryRow(db, findStatement, [id]);
}

const insertStatement = defineCommand(
  'api_key_insert',
  `insert into api_keys (id, name, key_hash, key_hint, scopes, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
);

/** Stores a new key; returns false when another key has its name. */
export async function insertApiKey(db: Queryable, key: ApiKeyRecord): Promise<boolean> {
  const inserted = await execute(db, insertStatement, [
    key.id,
    key.name,
    key.keyHash,
    key.keyHint,
    key.scopes,
    key.createdAt,
    key.expiresAt,
  ]);
  return inserted === 1;
}

const replaceStatement = defineCommand(
  'api_key_replace',
  'update api_keys set replaced_by = $2, expires_at = $3 where id = $1',
);

/** Stores a key's successor, which takes over the name, and the key's expiry. */
export async function replaceApiKey(
  db: Queryable,
  id: string,
  successorId: string,
  expiresAt: Date,
): Promise<void> {
  await execute(db, replaceStatement, [id, successorId, expiresAt]);
}

const revokeStatement = defineStatement(
  'api_key_revoke',
  ApiKeyRow,
  `update api_keys set revoked_at = $2
   where revoked_at is null
     and (id::text = lower($1)
          or (name = $1 and (replaced_by is null or expires_at > $2)))
   returning ${COLUMNS}`,
);

/**
 * Revokes the key with an id, or all valid keys of a name. Returns the keys that it revoked, without those that were
 * revoked before.
 */
export async function revokeApiKeys(
  db: Queryable,
  idOrName: string,
  now: Date,
): Promise<ApiKeyRecord[]> {
  return queryRows(db, revokeStatement, [idOrName, now]);
}

const recordUseStatement = defineCommand(
  'api_key_record_use',
  `update api_keys set last_used_at = $2
   where id = $1 and (last_used_at is null or last_used_at <= $3)`,
);

/**
 * Records that a key was used.
 * @param unlessSince nothing is written when a later use is stored
 */
export async function recordApiKeyUse(
  db: Queryable,
  id: string,
  usedAt: Date,
  unlessSince: Date,
): Promise<void> {
  await execute(db, recordUseStatement, [id, usedAt, unlessSince]);
}
