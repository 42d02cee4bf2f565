import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { hashAddress } from '../suppressions/hash-address.ts';
import { rewriteAddresses } from '../suppressions/move-addresses.ts';
import { deleteSuppression, insertSuppression } from '../suppressions/queries.ts';
import type { ByHand } from './erase-subscriber.ts';
import { lockAddress } from './queries/subscribers.ts';
import { subscriberIdOf } from './subscriber-id.ts';

type HandContext = Pick<Context, 'clock' | 'pool' | 'vault'>;

/** Keeps newsletter and outreach from an address until it is lifted by hand. */
export async function suppressByHand(
  ctx: HandContext,
  { email, actor, reason }: ByHand,
): Promise<void> {
  const addressHash = hashAddress(ctx.vault, email);
  const now = ctx.clock.now();
  const subjectId = subscriberIdOf(ctx.vault, addressHash);
  await rewriteAddresses(ctx, [email]);
  await inTransaction(ctx.pool, async (db) => {
    await lockAddress(db, addressHash);
    await insertSuppression(db, { addressHash, reason: 'by_hand', suppressedAt: now });
    const change = { action: 'suppression.add', subjectId, details: {} };
    await insertAuditEntry(db, { ...change, occurredAt: now, actor, reason });
  });
}

/** Lets an address have mail again, whatever kept it from it; false when nothing did. */
export async function liftByHand(
  ctx: HandContext,
  { email, actor, reason }: ByHand,
): Promise<boolean> {
  const addressHash = hashAddress(ctx.vault, email);
  const subjectId = subscriberIdOf(ctx.vault, addressHash);
  const occurredAt = ctx.clock.now();
  await rewriteAddresses(ctx, [email]);
  return inTransaction(ctx.pool, async (db) => {
    await lockAddress(db, addressHash);
    const lifted = await deleteSuppression(db, addressHash);
    if (!lifted) return false;
    const change = { action: 'suppression.remove', subjectId, details: {} };
    await insertAuditEntry(db, { ...change, occurredAt, actor, reason });
    return true;
  });
}
