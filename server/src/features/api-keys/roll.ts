import type { PoolClient } from 'pg';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { makeApiKey, type CreatedApiKey, type KeyChange } from './create.ts';
import { ApiKeyRefusal, apiKeyNameTaken, noSuchApiKey } from './key-refusal.ts';
import {
  findApiKey,
  findApiKeyId,
  insertApiKey,
  lockApiKeys,
  replaceApiKey,
  type ApiKeyRecord,
} from './queries.ts';
import { endOfOverlap, expiryOfSuccessor } from './rules/standing.ts';

/** For how long a key that was rolled is good beside its successor, unless it is said otherwise. */
export const DEFAULT_OVERLAP_MS = 24 * 60 * 60_000;

/** Which key is to be rolled. */
export interface ApiKeyRoll extends KeyChange {
  /** The key's id, or the name that it goes by. */
  readonly idOrName: string;
  /** 0: the old key ends at once. */
  readonly overlapMs: number;
}

/** A successor, in plain, and the key that it replaces. */
export interface RolledApiKey extends CreatedApiKey {
  readonly replaced: ApiKeyRecord;
  /** The end of the overlap; not later than the old key's own end. */
  readonly replacedEndsAt: Date;
}

/**
 * Makes a new key with the name and the scopes of another one, to run as long as that was made to run. The old key is
 * good for an overlap, in which whoever uses it changes to the new one. Leaves an audit row.
 * @throws ApiKeyRefusal when there is no such key, or it has a successor already: of two at once, one is refused
 */
export async function rollApiKey(ctx: Context, roll: ApiKeyRoll): Promise<RolledApiKey> {
  // Before the lock: whoever waited for another one's roll meant the old key, and must not roll the new one.
  const id = await findApiKeyId(ctx.pool, roll.idOrName);
  if (id === null) throw noSuchApiKey();
  return inTransaction(ctx.pool, async (client) => {
    await lockApiKeys(client);
    const replaced = await findRollable(client, id);
    const now = ctx.clock.now();
    const { name, scopes } = replaced;
    const expiresAt = expiryOfSuccessor(replaced, now);
    const created = makeApiKey({ name, scopes, expiresAt }, now);
    const replacedEndsAt = endOfOverlap(replaced, now, roll.overlapMs);
    await replaceApiKey(client, id, created.key.id, replacedEndsAt);
    if (!(await insertApiKey(client, created.key))) throw apiKeyNameTaken(name);
    await insertAuditEntry(client, {
      actor: roll.actor,
      reason: roll.reason,
      occurredAt: now,
      action: 'api_key.roll',
      subjectId: id,
      details: {
        name,
        replaced_by: created.key.id,
        key_hint: created.key.keyHint,
        ends_at: replacedEndsAt.toISOString(),
      },
    });
    return { ...created, replaced, replacedEndsAt };
  });
}

async function findRollable(client: PoolClient, id: string): Promise<ApiKeyRecord> {
  const key = await findApiKey(client, id);
  if (key === null || key.revokedAt !== null) throw noSuchApiKey();
  if (key.replacedBy === null) return key;
  throw new ApiKeyRefusal('The API key was rolled already: roll its successor instead.');
}
