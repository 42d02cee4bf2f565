import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Vault } from '#server/lib/vault.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  findCurrentKey,
  openSigningKeys,
  sealSigningKey,
  generateSigningKey,
} from './signing-key.ts';
import {
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  replaceSigningKeySeal,
  type SigningKeyRecord,
} from './queries.ts';

/** What creating a key needs. */
export interface SigningKeyDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly vault: Vault;
}

/**
 * A new key is published this long before it signs: by then every process has read it, and no client meets a token whose
 * key is not in the key set yet.
 */
export const PUBLISH_LEAD_MS = 5 * 60_000;

/**
 * Creates a new signing key, which takes over after {@link PUBLISH_LEAD_MS}, and leaves an audit row.
 * @param options.immediately it takes over at once, because the present key must not be used any longer
 * @param change who does it and why
 */
export async function rotateSigningKey(
  ctx: SigningKeyDependencies,
  options: { readonly immediately: boolean },
  change: { readonly actor: string; readonly reason: string },
): Promise<SigningKeyRecord> {
  const now = ctx.clock.now();
  const activeFrom = options.immediately ? now : new Date(now.getTime() + PUBLISH_LEAD_MS);
  const record = createRecord(ctx, now, activeFrom);
  await inTransaction(ctx.pool, async (client) => {
    await lockSigningKeys(client);
    await retireKeys(client, ctx.vault, activeFrom);
    await insertSigningKey(client, record);
    await insertAuditEntry(client, {
      ...change,
      occurredAt: now,
      action: 'signing_key.rotate',
      subjectId: record.kid,
      details: { active_from: activeFrom.toISOString() },
    });
  });
  return record;
}

/** What a key that is not published any more has as its retirement: long before any token. */
const REVOKED_AT = new Date(0);

/**
 * Withdraws a retired key from the key set at once, so that tokens signed with it are refused, and leaves an audit row.
 * @returns false when there is no such key, or it signs now or will sign: rotate first
 */
export async function revokeSigningKey(
  ctx: SigningKeyDependencies,
  kid: string,
  change: { readonly actor: string; readonly reason: string },
): Promise<boolean> {
  const now = ctx.clock.now();
  return inTransaction(ctx.pool, async (client) => {
    await lockSigningKeys(client);
    const { opened } = openSigningKeys(ctx.vault, await listSigningKeys(client));
    const found = opened.find(({ record }) => record.kid === kid);
    if (found === undefined) return false;
    const { retiredAt } = found.record;
    if (retiredAt === null || retiredAt > now) return false;
    const revoked = { ...found.record, retiredAt: REVOKED_AT };
    await replaceSigningKeySeal(client, sealSigningKey(ctx.vault, found.key, revoked));
    await insertAuditEntry(client, {
      ...change,
      occurredAt: now,
      action: 'signing_key.revoke',
      subjectId: kid,
      details: {},
    });
    return true;
  });
}

/**
 * Creates a signing key where none can sign: in a new database, and where rows were removed. Processes that start at once
 * end with the same one. Rows that do not open are left to the ring, which reports them.
 */
export async function ensureSigningKey(ctx: SigningKeyDependencies): Promise<void> {
  if (await hasKey(ctx.pool, ctx)) return;
  await inTransaction(ctx.pool, async (client) => {
    await lockSigningKeys(client);
    if (await hasKey(client, ctx)) return;
    const now = ctx.clock.now();
    await insertSigningKey(client, createRecord(ctx, now, now));
  });
}

/** Where no row opens the master secret is likely the wrong one, and a key of its own would hide that. */
async function hasKey(db: Queryable, { clock, vault }: SigningKeyDependencies): Promise<boolean> {
  const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(db));
  if (opened.length === 0) return rejected.length > 0;
  const records = opened.map(({ record }) => record);
  return findCurrentKey(records, clock.now()) !== undefined;
}

/** Seals the moment at which the others retire, so that a change of their rows cannot bring them back. */
async function retireKeys(db: Queryable, vault: Vault, retiredAt: Date): Promise<void> {
  const { opened } = openSigningKeys(vault, await listSigningKeys(db));
  for (const { record, key } of opened) {
    if (record.retiredAt !== null && record.retiredAt <= retiredAt) continue;
    await replaceSigningKeySeal(db, sealSigningKey(vault, key, { ...record, retiredAt }));
  }
}

function createRecord(
  { vault }: SigningKeyDependencies,
  createdAt: Date,
  activeFrom: Date,
): SigningKeyRecord {
  return sealSigningKey(vault, generateSigningKey(), { createdAt, activeFrom, retiredAt: null });
}
