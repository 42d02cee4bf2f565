import { randomBytes } from 'node:crypto';

import { isUuid } from '@latchkey/contract';
import { v7 as makeUuid } from 'uuid';

import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { generateApiKey, hashApiKey, hintOf } from '#server/lib/api-key.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { ApiKeyRefusal, apiKeyNameTaken } from './key-refusal.ts';
import { insertApiKey, type ApiKeyRecord } from './queries.ts';
import type { ApiKeyScope } from './rules/scopes.ts';

/** When an API key ends: some days from now, or at a moment; null is never. */
export type ApiKeyTerm = { readonly days: number } | { readonly until: Date | null };

/** What an API key is made of. */
export interface ApiKeyOrder {
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
 * @throws ApiKeyRefusal for a name that is taken or cannot be one, no scope, or an end that has passed
 */
export async function createApiKey(
  ctx: Context,
  order: ApiKeyOrder,
  change: KeyChange,
): Promise<CreatedApiKey> {
  const now = ctx.clock.now();
  const expiresAt = endOf(order.term, now);
  requireSound(order, expiresAt, now);
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
export function makeApiKey(
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

function requireSound({ name, scopes }: ApiKeyOrder, expiresAt: Date | null, now: Date): void {
  if (!NAME.test(name) || name.trim() !== name) {
    throw new ApiKeyRefusal('The name of an API key is 1 to 64 characters on one line.');
  }
  if (isUuid(name)) {
    throw new ApiKeyRefusal('The name of an API key must not look like the id of one.');
  }
  if (scopes.length === 0) throw new ApiKeyRefusal('An API key needs a scope.');
  if (expiresAt !== null && expiresAt <= now) {
    throw new ApiKeyRefusal('The API key would have expired already.');
  }
}
