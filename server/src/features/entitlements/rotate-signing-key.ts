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

export interface SigningKeyDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly vault: Vault;
}

/**
 * A new key is published this long before it signs. By then every process has read it, and no client gets a token whose
 * key is not in the key set yet.
 */
export const PUBLISH_LEAD_MS = 5 * 60_000;

/**
 * Creates a signing key, which replaces the present one after {@link PUBLISH_LEAD_MS}, with an audit row.
 * @param options.immediately it replaces the present one at once, because that one must not sign any more
 */
export async function rotateSigningKey(
  deps: SigningKeyDependencies,
  options: { readonly immediately: boolean },
  change: { readonly actor: string; readonly reason: string },
): Promise<SigningKeyRecord> {
  return inTransaction(deps.pool, async (client) => {
    await lockSigningKeys(client);
    // Not before the lock: another process may create a key in between.
    const now = deps.clock.now();
    const activeFrom = options.immediately ? now : new Date(now.getTime() + PUBLISH_LEAD_MS);
    const record = createRecord(deps, now, activeFrom);
    await retireKeys(client, deps.vault, activeFrom);
    await insertSigningKey(client, record);
    await insertAuditEntry(client, {
      ...change,
      occurredAt: now,
      action: 'signing_key.rotate',
      subjectId: record.kid,
      details: { active_from: activeFrom.toISOString() },
    });
    return record;
  });
}

/** The retirement of a key that is not published any more: before any token. */
const REVOKED_AT = new Date(0);

/**
 * Removes a retired key from the key set at once, so that tokens signed with it are refused, with an audit row.
 * @returns false when there is no such key, or it signs now or will sign: rotate first
 */
export async function revokeSigningKey(
  deps: SigningKeyDependencies,
  kid: string,
  change: { readonly actor: string; readonly reason: string },
): Promise<boolean> {
  const now = deps.clock.now();
  return inTransaction(deps.pool, async (client) => {
    await lockSigningKeys(client);
    const { opened } = openSigningKeys(deps.vault, await listSigningKeys(client));
    const found = opened.find(({ record }) => record.kid === kid);
    if (found === undefined) return false;
    const { retiredAt } = found.record;
    if (retiredAt === null || retiredAt > now) return false;
    const revoked = { ...found.record, retiredAt: REVOKED_AT };
    await replaceSigningKeySeal(client, sealSigningKey(deps.vault, found.key, revoked));
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
 * Creates a signing key when none can sign: in a new database, and after rows were removed. Processes that start at the
 * same time get the same key. The key ring logs the rows that cannot be opened.
 */
export async function ensureSigningKey(deps: SigningKeyDependencies): Promise<void> {
  if (await hasKey(deps.pool, deps)) return;
  await inTransaction(deps.pool, async (client) => {
    await lockSigningKeys(client);
    if (await hasKey(client, deps)) return;
    const now = deps.clock.now();
    await insertSigningKey(client, createRecord(deps, now, now));
  });
}

/** When no row opens, the master secret is probably wrong, and a new key would hide that. */
async function hasKey(db: Queryable, { clock, vault }: SigningKeyDependencies): Promise<boolean> {
  const { opened, rejected } = openSigningKeys(vault, await listSigningKeys(db));
  if (opened.length === 0) return rejected.length > 0;
  const records = opened.map(({ record }) => record);
  return findCurrentKey(records, clock.now()) !== undefined;
}

/**
 * Seals the retirement of the other keys, so that a change of their rows cannot reactivate them. A key of a process whose clock
 * is ahead retires when it was created: only a revoked key is retired before.
 */
async function retireKeys(db: Queryable, vault: Vault, from: Date): Promise<void> {
  const { opened } = openSigningKeys(vault, await listSigningKeys(db));
  for (const { record, key } of opened) {
    const retiredAt = from < record.createdAt ? record.createdAt : from;
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
