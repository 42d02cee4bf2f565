/** Feature: create, list, roll and revoke the keys with which other programs call the service. */
import { randomBytes } from 'node:crypto';

import { isUuid, type ApiKeyScope } from '@latchkey/contract';
import type { Pool, PoolClient } from 'pg';
import { v7 as makeUuid } from 'uuid';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { noSuch, notPossible, type PublicError } from '#server/errors.ts';
import { generateApiKey, hashApiKey, hintOf } from '#server/lib/api-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  insertApiKey,
  type ApiKeyRecord,
  findApiKey,
  findApiKeyId,
  lockApiKeys,
  replaceApiKey,
  revokeApiKeys,
} from './queries.ts';
import { endOfOverlap, expiryOfSuccessor } from './rules/api-key.ts';

export interface ApiKeyDependencies {
  readonly clock: Clock;
  readonly pool: Pool;
}

/** When an API key expires: some days from now, or at a date; null is never. */
export type ApiKeyTerm = { readonly days: number } | { readonly until: Date | null };

/** An API key to create. */
export interface NewApiKey {
  /** For people; unique among current keys. 1 to 64 characters. */
  readonly name: string;
  /** At least one. */
  readonly scopes: readonly ApiKeyScope[];
  readonly term: ApiKeyTerm;
}

/** A manual change of an API key. */
export interface KeyChange {
  readonly actor: string;
  readonly reason: string | null;
}

/** A new API key in plain text, which is not stored and cannot be shown again. */
export interface CreatedApiKey {
  readonly key: ApiKeyRecord;
  readonly apiKey: string;
}

const DAY_MS = 86_400_000;

const NAME = /^\P{Cc}{1,64}$/u;

/**
 * Creates an API key, with an audit row.
 * @throws notPossible (409) for a taken or invalid name, no scope, or an expiry in the past
 */
export async function createApiKey(
  deps: ApiKeyDependencies,
  newKey: NewApiKey,
  change: KeyChange,
): Promise<CreatedApiKey> {
  const now = deps.clock.now();
  const expiresAt = endOf(newKey.term, now);
  requireValid(newKey, expiresAt, now);
  const created = generateKey({ ...newKey, expiresAt }, now);
  const { key } = created;
  await inTransaction(deps.pool, async (client) => {
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

/** Generates a key without storing it. */
function generateKey(
  terms: Pick<ApiKeyRecord, 'name' | 'expiresAt'> & { readonly scopes: readonly string[] },
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
    throw notPossible('The name of an API key is 1 to 64 characters on one line.');
  }
  if (isUuid(name)) {
    throw notPossible('The name of an API key must not look like the id of one.');
  }
  if (scopes.length === 0) throw notPossible('An API key needs a scope.');
  if (expiresAt !== null && expiresAt <= now) {
    throw notPossible('The API key would have expired already.');
  }
}

function noSuchApiKey(): PublicError {
  return noSuch('There is no such API key, or it is revoked.');
}

function apiKeyNameTaken(name: string): PublicError {
  return notPossible(
    `There is an API key ${JSON.stringify(name)} already: roll it, revoke it, or choose another name.`,
  );
}

/** The key to roll. */
export interface ApiKeyRoll extends KeyChange {
  /** The key's id, or its present name. */
  readonly idOrName: string;
  /** 0: the old key expires at once. */
  readonly overlapMs: number;
}

/** A successor in plain text, and the key that it replaces. */
export interface RolledApiKey extends CreatedApiKey {
  readonly replaced: ApiKeyRecord;
  /** The end of the overlap; not later than the old key's own expiry. */
  readonly replacedEndsAt: Date;
}

/**
 * Creates a successor of a key with the same name, scopes and lifetime, with an audit row. The old key stays valid for
 * an overlap, in which its users change to the new one.
 * @throws noSuch (404), notPossible (409) when it has a successor already: of two concurrent calls, one is refused
 */
export async function rollApiKey(
  deps: ApiKeyDependencies,
  roll: ApiKeyRoll,
): Promise<RolledApiKey> {
  // Before the lock: a call that waited for another roll means the old key, and must not roll the new one.
  const id = await findApiKeyId(deps.pool, roll.idOrName);
  if (id === null) throw noSuchApiKey();
  return inTransaction(deps.pool, async (client) => {
    await lockApiKeys(client);
    const replaced = await findRollable(client, id);
    const now = deps.clock.now();
    const { name, scopes } = replaced;
    const expiresAt = expiryOfSuccessor(replaced, now);
    const created = generateKey({ name, scopes, expiresAt }, now);
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
  throw notPossible('The API key was rolled already: roll its successor instead.');
}

/** The keys to revoke. */
export interface ApiKeyRevocation extends KeyChange {
  /** The id of one key; or a name, for all valid keys that have or had it. */
  readonly idOrName: string;
}

/**
 * Revokes API keys, with an audit row for each. A name includes the rolled keys in their overlap, so that no key of
 * that name stays valid.
 * @throws noSuch (404) when there is nothing to revoke
 */
export async function revokeApiKey(
  deps: ApiKeyDependencies,
  revocation: ApiKeyRevocation,
): Promise<ApiKeyRecord[]> {
  const { idOrName, actor, reason } = revocation;
  return inTransaction(deps.pool, async (client) => {
    // Serializes with a roll of the same name, whose new key would otherwise stay valid.
    await lockApiKeys(client);
    const now = deps.clock.now();
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
