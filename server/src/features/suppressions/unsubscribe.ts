import type { Context } from '#server/context.ts';

import { hashAddress } from './hash-address.ts';
import { rewriteAddresses } from './move-addresses.ts';
import { insertSuppression } from './queries.ts';
import { readUnsubscribeToken } from './unsubscribe-token.ts';

/**
 * Keeps newsletter and outreach from the address that a link stands for, however often it is asked.
 * @returns the address; null for a token that is none, of which nothing follows
 */
export async function unsubscribe(
  ctx: Pick<Context, 'vault' | 'pool' | 'databaseLimiter' | 'clock'>,
  token: string,
): Promise<string | null> {
  const email = readUnsubscribeToken(ctx.vault, token);
  if (email === null) return null;
  const addressHash = hashAddress(ctx.vault, email);
  const suppressedAt = ctx.clock.now();
  await ctx.databaseLimiter.run(async () => {
    await rewriteAddresses(ctx, [email]);
    await insertSuppression(ctx.pool, { addressHash, reason: 'unsubscribed', suppressedAt });
  });
  return email;
}
