import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';

import { insertAuditEntry } from '../audit/queries.ts';
import { anonymiseMessages } from '../outreach/queries/messages-of-address.ts';
import { hashAddress } from '../suppressions/hash-address.ts';
import { hashAddressUnderAll, rewriteAddresses } from '../suppressions/move-addresses.ts';
import { insertSuppression } from '../suppressions/queries.ts';
import { deleteConfirmations } from './queries/confirmations.ts';
import { deleteSubscriber, lockAddress } from './queries/subscribers.ts';
import { subscriberIdOf } from './subscriber-id.ts';

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
