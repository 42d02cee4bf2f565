import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJobs } from '#server/jobs/add-jobs.ts';

import { applyFacts } from './apply-events.ts';
import type { BillingEvent, CustomerDetails } from './facts.ts';
import { listKeyEmailsOfCustomer } from './key-emails/customer-queries.ts';
import { queueKeyEmails, type CustomerKey } from './queue-jobs.ts';
import { PaddleApiError } from './providers/paddle/paddle-api.ts';
import { lockBilling } from './queries/ledger.ts';

/** What a look-up needs of the context. */
type LookUpContext = Pick<
  Context,
  'catalog' | 'clock' | 'config' | 'log' | 'paddleApi' | 'pool' | 'vault' | 'wantedEvents'
>;

/**
 * Asks the provider for a customer of whom no event has told, and applies the answer as one: what waits for the address is
 * sent. Of a provider that cannot be asked, or has no such customer, an event may still tell; until then the checkout's own
 * data are what there is.
 * @throws PaddleApiError when it is worth asking again
 */
export async function lookUpCustomer(
  ctx: LookUpContext,
  name: CustomerKey,
  signal?: AbortSignal,
): Promise<void> {
  if (name.provider !== 'paddle' || ctx.paddleApi === null) return;
  const askedAt = ctx.clock.now();
  try {
    const found = await ctx.paddleApi.findCustomer(name.customerId, signal);
    const usable = found !== null && found.email !== null;
    if (!usable) ctx.log.warn('Paddle knows no such customer, or no address that can be used');
    await applyCustomer(ctx, name, found ?? NOBODY, usable ? askedAt : LONG_AGO);
  } catch (error) {
    if (!(error instanceof PaddleApiError) || error.retryAfterSeconds === null) throw error;
    const runAt = new Date(askedAt.getTime() + error.retryAfterSeconds * 1_000);
    const key = `paddle:${name.customerId}`;
    await addJobs(ctx.pool, [{ name: 'look_up_customer', payload: name, key, runAt }]);
  }
}

const NOBODY: CustomerDetails = { email: null, name: null, locale: null };

/** Nothing that was not found out is newer than what an event says, whenever. */
const LONG_AGO = new Date(0);

/** The answer is what holds at the moment of asking: newer than every event until then, and older than those after. */
async function applyCustomer(
  ctx: LookUpContext,
  name: CustomerKey,
  customer: CustomerDetails,
  occurredAt: Date,
): Promise<void> {
  const { customerId } = name;
  const event: BillingEvent = {
    provider: 'paddle',
    eventId: `looked_up:${customerId}`,
    type: 'customer.looked_up',
    occurredAt,
    facts: [{ kind: 'customer', customerId, occurredAt, customer }],
    ignoredBecause: null,
  };
  await inTransaction(ctx.pool, async (client) => {
    await lockBilling(client);
    await applyFacts(ctx, client, [event]);
    await queueKeyEmails(client, await listKeyEmailsOfCustomer(client, name, 'look_up'));
  });
}
