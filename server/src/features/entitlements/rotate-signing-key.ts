import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { inTransaction } from '#server/db/transaction.ts';
import type { Vault } from '#server/lib/vault.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import {
  insertSigningKey,
  listSigningKeys,
  lockSigningKeys,
  type SigningKeyRecord,
} from './queries.ts';
import { exportPublicKey, exportSigningKey, generateSigningKey } from './signing-key.ts';

/** What making a key needs. */
export interface SigningKeyContext {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly vault: Vault;
}

/**
 * A new key is published this long before it signs: by then every process has read it, and no client meets a token whose
 * key is not in the key set yet.
 */
export const PUBLISH_LEAD_MS = 5 * 60_000;

/** What a signing key is sealed under. */
export function signingKeyLabel(kid: string): string {
  return `signing-key:${kid}`;
}

/**
 * Makes a new signing key, which takes over after {@link PUBLISH_LEAD_MS}, and leaves an audit row.
 * @param options.immediately it takes over at once, because the present key must not be used any longer
 * @param change who does it and why
 */
export async function rotateSigningKey(
  ctx: SigningKeyContext,
  options: { readonly immediately: boolean },
  change: { readonly actor: string; readonly reason: string },
): Promise<SigningKeyRecord> {
  const now = ctx.clock.now();
  const activeFrom = options.immediately ? now : new Date(now.getTime() + PUBLISH_LEAD_MS);
  const record = makeRecord(ctx, now, activeFrom);
  await inTransaction(ctx.pool, async (client) => {
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

/** Makes the first signing key where there is none; processes that start at once end with the same one. */
export async function ensureSigningKey(ctx: SigningKeyContext): Promise<void> {
  if ((await listSigningKeys(ctx.pool)).length > 0) return;
  await inTransaction(ctx.pool, async (client) => {
    await lockSigningKeys(client);
    if ((await listSigningKeys(client)).length > 0) return;
    const now = ctx.clock.now();
    await insertSigningKey(client, makeRecord(ctx, now, now));
  });
}

function makeRecord(ctx: SigningKeyContext, createdAt: Date, activeFrom: Date): SigningKeyRecord {
  const key = generateSigningKey();
  const { kid } = key.publicJwk;
  return {
    kid,
    publicKey: exportPublicKey(key),
    privateKeySealed: ctx.vault.seal(exportSigningKey(key), signingKeyLabel(kid)),
    createdAt,
    activeFrom,
  };
}
