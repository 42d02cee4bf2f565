import { Type, type Static } from 'typebox';

import {
  defineCommand,
  defineStatement,
  execute,
  Nullable,
  queryRow,
  Timestamp,
  type Queryable,
} from '#server/db/statement.ts';

/** Identifies an idempotency key: each API key has its own. */
export interface IdempotencyKeyName {
  readonly apiKeyId: string;
  readonly keyHash: string;
}

/** The request that a key identifies from now on. */
export interface IdempotencyClaim {
  readonly bodyHash: string;
  readonly requestId: string;
  readonly now: Date;
  /** An older claim of the key has expired. */
  readonly expiredBefore: Date;
}

const claimStatement = defineCommand(
  'outreach_key_claim',
  `insert into outreach_idempotency_keys
     (api_key_id, key_hash, body_hash, request_id, created_at, claimed_at)
   values ($1, decode($2, 'hex'), decode($3, 'hex'), $4, $5, $5)
   on conflict (api_key_id, key_hash) do update
   set body_hash = excluded.body_hash, request_id = excluded.request_id,
       created_at = excluded.created_at, claimed_at = excluded.claimed_at, answered_at = null
   where outreach_idempotency_keys.created_at < $6`,
);

/** Claims an unused key; returns false when it is in use. */
export async function claimIdempotencyKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  { bodyHash, requestId, now, expiredBefore }: IdempotencyClaim,
): Promise<boolean> {
  const parameters = [apiKeyId, keyHash, bodyHash, requestId, now, expiredBefore];
  return (await execute(db, claimStatement, parameters)) === 1;
}

const rewriteStatement = defineCommand(
  'outreach_key_rewrite',
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
export async function rewriteIdempotencyKey(
  db: Queryable,
  apiKeyId: string,
  from: HashedRequest,
  to: HashedRequest,
): Promise<void> {
  await execute(db, rewriteStatement, [
    apiKeyId,
    from.keyHash,
    from.bodyHash,
    to.keyHash,
    to.bodyHash,
  ]);
}

const UsedIdempotencyKeyRow = Type.Object({
  bodyHash: Type.String(),
  requestId: Type.String(),
  claimedAt: Timestamp,
  answeredAt: Nullable.Timestamp,
});

export type UsedIdempotencyKey = Readonly<Static<typeof UsedIdempotencyKeyRow>>;

const findStatement = defineStatement(
  'outreach_key_find',
  UsedIdempotencyKeyRow,
  `select encode(body_hash, 'hex') as body_hash, request_id, claimed_at, answered_at
   from outreach_idempotency_keys where api_key_id = $1 and key_hash = decode($2, 'hex')`,
);

export async function findIdempotencyKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
): Promise<UsedIdempotencyKey | null> {
  return queryRow(db, findStatement, [apiKeyId, keyHash]);
}

const claimAbandonedStatement = defineCommand(
  'outreach_key_claim_abandoned',
  `update outreach_idempotency_keys set claimed_at = $3
   where api_key_id = $1 and key_hash = decode($2, 'hex') and answered_at is null
     and (claimed_at < $4 or claimed_at - $3::timestamptz > $3::timestamptz - $4::timestamptz)`,
);

/**
 * Claims an unanswered key whose lease was renewed before a time, or is as far ahead because the clock was set back; returns false
 * when there is none.
 */
export async function claimAbandonedKey(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  now: Date,
  abandonedBefore: Date,
): Promise<boolean> {
  return (
    (await execute(db, claimAbandonedStatement, [apiKeyId, keyHash, now, abandonedBefore])) === 1
  );
}

const renewStatement = defineCommand(
  'outreach_key_renew',
  `update outreach_idempotency_keys set claimed_at = $4
   where api_key_id = $1 and key_hash = decode($2, 'hex') and request_id = $3 and answered_at is null`,
);

/** Renews the lease of the process that sends the request. */
export async function renewLease(
  db: Queryable,
  { apiKeyId, keyHash }: IdempotencyKeyName,
  requestId: string,
  now: Date,
): Promise<void> {
  await execute(db, renewStatement, [apiKeyId, keyHash, requestId, now]);
}

const answerStatement = defineCommand(
  'outreach_key_answer',
  `update outreach_idempotency_keys set answered_at = $4
   where api_key_id = $1 and key_hash = decode($2, 'hex') and request_id = $3`,
);

/** Stores that all outcomes are final, for repeated requests. */
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

/** Deletes keys from before a time; returns how many. */
export function deleteOldIdempotencyKeys(
  db: Queryable,
  before: Date,
  limit: number,
): Promise<number> {
  return execute(db, deleteStatement, [before, limit]);
}
