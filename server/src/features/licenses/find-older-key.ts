import type { Context } from '#server/context.ts';

import { hashUnderAllSecrets } from './hash-license-key.ts';
import { findStoredKey } from './queries/license-keys.ts';

/**
 * Under which hash a key is stored that was not found under the current master secret. Costs nothing while no previous
 * secret is configured. The current hash is among the candidates, because a rotation may just have rewritten the row.
 */
export async function findOlderKeyHash(ctx: Context, licenseKey: string): Promise<string | null> {
  if (ctx.vault.previous.length === 0) return null;
  const candidates = hashUnderAllSecrets(ctx, licenseKey);
  const stored = await ctx.databaseLimiter.run(() => findStoredKey(ctx.pool, candidates));
  return stored?.keyHash ?? null;
}
