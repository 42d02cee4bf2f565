import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { anonymiseMessages } from '../outreach/queries/messages.ts';
import { hashAddress, subscriberIdOf } from '../suppressions/address-hash.ts';
import { deleteSuppression, insertSuppression } from '../suppressions/queries.ts';
import { rewriteAddresses, hashAddressUnderAll } from '../suppressions/rewrite-addresses.ts';
import { deleteConfirmations } from './queries/confirmations.ts';
import { lockAddress, deleteSubscriber } from './queries/subscribers.ts';

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

/** Who changes something by hand, and why. */
export interface ByHand {
  readonly email: string;
  readonly actor: string;
  readonly reason: string;
}

/**
 * Takes away all that is held on who asked for news with an address, and which letters went to it. What stays is the
 * address's HMAC among the suppressed, so that it is never written to again, and that it was done.
 * @returns the subscription's id, and whether there was one
 */
export async function eraseSubscriber(
  ctx: Pick<Context, 'clock' | 'pool' | 'vault'>,
  { email, actor, reason }: ByHand,
): Promise<{ readonly id: string; readonly existed: boolean }> {
  const addressHash = hashAddress(ctx.vault, email);
  const id = subscriberIdOf(ctx.vault, addressHash);
  const now = ctx.clock.now();
  await rewriteAddresses(ctx, [email]);
  return inTransaction(ctx.pool, async (db) => {
    await lockAddress(db, addressHash);
    await insertSuppression(db, { addressHash, reason: 'erased', suppressedAt: now });
    const existed = await deleteSubscriber(db, addressHash);
    await deleteConfirmations(db, addressHash);
    for (const each of hashAddressUnderAll(ctx.vault, email)) await anonymiseMessages(db, each);
    const change = { action: 'subscriber.erase', subjectId: id, details: { existed } };
    await insertAuditEntry(db, { ...change, occurredAt: now, actor, reason });
    return { id, existed };
  });
}
