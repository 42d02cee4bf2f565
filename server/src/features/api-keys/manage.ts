import { randomBytes } from 'node:crypto';

import { isUuid } from '@latchkey/contract';
import type { PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { generateApiKey, hashApiKey, hintOf } from '#server/lib/api-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  insertApiKey,
  type ApiKeyRecord,
  listApiKeyRecords,
  findApiKey,
  findApiKeyId,
  lockApiKeys,
  replaceApiKey,
  revokeApiKeys,
} from './queries.ts';
import {
  type ApiKeyScope,
  apiKeyState,
  type ApiKeyState,
  endOfOverlap,
  expiryOfSuccessor,
} from './rules/api-key.ts';

/** When an API key ends: some days from now, or at a moment; null is never. */
export type ApiKeyTerm = { readonly days: number } | { readonly until: Date | null };

/** What an API key is made of. */
export interface NewApiKey {
  /** For people; no two keys in use share one. 1 to 64 characters. */
  readonly name: string;
  /** At least one. */
  readonly scopes: readonly ApiKeyScope[];
  readonly term: ApiKeyTerm;
}

/** Who changes an API key by hand, and why. */
export interface KeyChange {
  readonly actor: string;
  readonly reason: string | null;
}

/** An API key that was made, in plain: it is kept nowhere, so it is shown now or never. */
export interface CreatedApiKey {
  readonly key: ApiKeyRecord;
  readonly apiKey: string;
}

const DAY_MS = 86_400_000;

const NAME = /^\P{Cc}{1,64}$/u;

/**
 * Makes an API key and leaves an audit row.
 * @throws ApiKeyError for a name that is taken or cannot be one, no scope, or an end that has passed
 */
export async function createApiKey(
  ctx: Context,
  order: NewApiKey,
  change: KeyChange,
): Promise<CreatedApiKey> {
  const now = ctx.clock.now();
  const expiresAt = endOf(order.term, now);
  requireValid(order, expiresAt, now);
  const created = makeApiKey({ ...order, expiresAt }, now);
  const { key } = created;
  await inTransaction(ctx.pool, async (client) => {
    if (!(await insertApiKey(client, key))) throw apiKeyNameTaken(key.name);
    await insertAuditEntry(client, {
      ...change,
      occurredAt: now,
      action: 'api_key.create',
      subjectId: key.id,
      details: {
        name: key.name,
        key_hint: key.keyHint,
        scopes: key.scopes.join(' '),
        expires_at: key.expiresAt?.toISOString() ?? null,
      },
    });
  });
  return created;
}

/** Makes a key that is not stored yet. */
function makeApiKey(
  terms: Pick<ApiKeyRecord, 'name' | 'scopes' | 'expiresAt'>,
  now: Date,
): CreatedApiKey {
  const apiKey = generateApiKey(randomBytes);
  const key = {
    id: makeUuid(),
    name: terms.name,
    keyHash: hashApiKey(apiKey),
    keyHint: hintOf(apiKey),
    scopes: [...new Set(terms.scopes)],
    createdAt: now,
    expiresAt: terms.expiresAt,
    lastUsedAt: null,
    revokedAt: null,
    replacedBy: null,
  };
  return { key, apiKey };
}

function endOf(term: ApiKeyTerm, now: Date): Date | null {
  return 'until' in term ? term.until : new Date(now.getTime() + term.days * DAY_MS);
}

function requireValid({ name, scopes }: NewApiKey, expiresAt: Date | null, now: Date): void {
  if (!NAME.test(name) || name.trim() !== name) {
    throw new ApiKeyError('The name of an API key is 1 to 64 characters on one line.');
  }
  if (isUuid(name)) {
    throw new ApiKeyError('The name of an API key must not look like the id of one.');
  }
  if (scopes.length === 0) throw new ApiKeyError('An API key needs a scope.');
  if (expiresAt !== null && expiresAt <= now) {
    throw new ApiKeyError('The API key would have expired already.');
  }
}

/** Why an API key cannot be made or changed: a sentence for the operator, which never holds a key. */
export class ApiKeyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ApiKeyError';
  }
}

function noSuchApiKey(): ApiKeyError {
  return new ApiKeyError('There is no such API key, or it is revoked.');
}

/** @param name what the key was to be called */
function apiKeyNameTaken(name: string): ApiKeyError {
  return new ApiKeyError(
    `There is an API key ${JSON.stringify(name)} already: roll it, revoke it, or choose another name.`,
  );
}

/** An API key and what it is now. */
export interface ViewedApiKey {
  readonly key: ApiKeyRecord;
  readonly state: ApiKeyState;
}

const MAX_LISTED = 1_000;

/** The newest 1,000 API keys, those that are over included. */
export async function listApiKeys(ctx: Context): Promise<ViewedApiKey[]> {
  const keys = await listApiKeyRecords(ctx.pool, MAX_LISTED);
  return keys.map((key) => viewApiKey(key, ctx.clock.now()));
}

/** Reads an API key's state at a moment. */
export function viewApiKey(key: ApiKeyRecord, now: Date): ViewedApiKey {
  return { key, state: apiKeyState(key, now) };
}

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
 * @throws ApiKeyError when there is no such key, or it has a successor already: of two at once, one is refused
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
  throw new ApiKeyError('The API key was rolled already: roll its successor instead.');
}

/** Which keys are to be revoked. */
export interface ApiKeyRevocation extends KeyChange {
  /** The id of one key; or a name, for every key that goes or went by it and still opens something. */
  readonly idOrName: string;
}

/**
 * Ends API keys at once and for good, and leaves an audit row for each. A name takes along the keys that were rolled and
 * are in their overlap: whoever revokes a name expects nothing of it to work.
 * @throws ApiKeyError when there is nothing to revoke
 */
export async function revokeApiKey(
  ctx: Context,
  revocation: ApiKeyRevocation,
): Promise<ApiKeyRecord[]> {
  const { idOrName, actor, reason } = revocation;
  return inTransaction(ctx.pool, async (client) => {
    // A roll of the same name is over or has not begun: its new key must not slip through.
    await lockApiKeys(client);
    const now = ctx.clock.now();
    const revoked = await revokeApiKeys(client, idOrName, now);
    if (revoked.length === 0) throw noSuchApiKey();
    for (const { id, name, keyHint } of revoked) {
      await insertAuditEntry(client, {
        actor,
        reason,
        occurredAt: now,
        action: 'api_key.revoke',
        subjectId: id,
        details: { name, key_hint: keyHint },
      });
    }
    return revoked;
  });
}
