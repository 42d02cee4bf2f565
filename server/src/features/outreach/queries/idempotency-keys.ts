import { Type } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

/** Names an idempotency key: each API key has its own. */
export interface IdempotencyKeyName {
  readonly apiKeyId: string;
  readonly keyHash: string;
}

/** What an idempotency key stands for, from now on. */
export interface IdempotencyClaim {
  readonly bodyHash: string;
  readonly requestId: string;
  readonly now: Date;
  /** A key from before this moment is free again. */
  readonly expiredBefore: Date;
}

const takeStatement = defineCommand(
  'outreach_key_take',
  `insert into outreach_idempotency_keys
     (api_key_id, key_hash, body_hash, request_id, created_at, claimed_at)
   values ($1, decode($2, 'hex'), decode($3, 'hex'), $4, $5, $5)
   on conflict (api_key_id, key_hash) do update
   set body_hash = excluded.body_hash, request_id = excluded.request_id,
       created_at = excluded.created_at, claimed_at = excluded.claimed_at, answered_at = null
   where outreach_idempotency_keys.created_at < $6`,
);

/** Takes a key that nobody uses; false when it is in use. */
export async function takeIdempotencyKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  { bodyHash, requestId, now, expiredBefore }: IdempotencyClaim,
): Promise<boolean> {
  const parameters = [apiKeyId, keyHash, bodyHash, requestId, now, expiredBefore];
  return (await execute(db, takeStatement, parameters)) === 1;
}

const moveStatement = defineCommand(
  'outreach_key_move',
  `update outreach_idempotency_keys set key_hash = decode($4, 'hex'), body_hash = decode($5, 'hex')
   where api_key_id = $1 and key_hash = decode($2, 'hex') and body_hash = decode($3, 'hex')
     and not exists (select from outreach_idempotency_keys
                     where api_key_id = $1 and key_hash = decode($4, 'hex'))`,
);

/** The hashes of an idempotency key and of its request. */
export interface HashedRequest {
  readonly keyHash: string;
  readonly bodyHash: string;
}

/** Stores a key under other hashes of the same request. */
export async function moveIdempotencyKey(
  db: Queryable,
  apiKeyId: string,
  from: HashedRequest,
  to: HashedRequest,
): Promise<void> {
  await execute(db, moveStatement, [
    apiKeyId,
    from.keyHash,
    from.bodyHash,
    to.keyHash,
    to.bodyHash,
  ]);
}

const findStatement = defineStatement(
  'outreach_key_find',
  Type.Object({
    body_hash: Type.String(),
    request_id: Type.String(),
    claimed_at: Timestamp,
    answered_at: Nullable.Moment,
  }),
  `select encode(body_hash, 'hex') as body_hash, request_id, claimed_at, answered_at
   from outreach_idempotency_keys where api_key_id = $1 and key_hash = decode($2, 'hex')`,
);

/** A key that is in use. */
export interface UsedIdempotencyKey {
  readonly bodyHash: string;
  readonly requestId: string;
  readonly claimedAt: Date;
  readonly answeredAt: Date | null;
}

/** What a key stands for; null when nobody uses it. */
export async function findIdempotencyKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
): Promise<UsedIdempotencyKey | null> {
  const row = await queryRow(db, findStatement, [apiKeyId, keyHash]);
  return (
    row && {
      bodyHash: row.body_hash,
      requestId: row.request_id,
      claimedAt: row.claimed_at,
      answeredAt: row.answered_at,
    }
  );
}

const retakeStatement = defineCommand(
  'outreach_key_retake',
  `update outreach_idempotency_keys set claimed_at = $3
   where api_key_id = $1 and key_hash = decode($2, 'hex') and answered_at is null and claimed_at < $4`,
);

/** Goes on where another process, whose claim is from before a moment, has stopped; false when somebody else does. */
export async function retakeIdempotencyKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  now: Date,
  abandonedBefore: Date,
): Promise<boolean> {
  return (await execute(db, retakeStatement, [apiKeyId, keyHash, now, abandonedBefore])) === 1;
}

const keepStatement = defineCommand(
  'outreach_key_keep',
  `update outreach_idempotency_keys set claimed_at = $4
   where api_key_id = $1 and key_hash = decode($2, 'hex') and request_id = $3 and answered_at is null`,
);

/** Says that whoever sends a request is still at it. */
export async function keepIdempotencyKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  requestId: string,
  now: Date,
): Promise<void> {
  await execute(db, keepStatement, [apiKeyId, keyHash, requestId, now]);
}

const answerStatement = defineCommand(
  'outreach_key_answer',
  `update outreach_idempotency_keys set answered_at = $4
   where api_key_id = $1 and key_hash = decode($2, 'hex') and request_id = $3`,
);

/** Notes that the answer is there, for whoever asks again. */
export async function recordAnswer(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  requestId: string,
  now: Date,
): Promise<void> {
  await execute(db, answerStatement, [apiKeyId, keyHash, requestId, now]);
}

const deleteStatement = defineCommand(
  'outreach_key_delete_old',
  `delete from outreach_idempotency_keys where (api_key_id, key_hash) in (
     select api_key_id, key_hash from outreach_idempotency_keys where created_at < $1 limit $2)`,
);

/** Deletes keys from before a moment, at most so many; gives how many. */
export function deleteOldIdempotencyKeys(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deleteStatement, [before, limit]);
}
