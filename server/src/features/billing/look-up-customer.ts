import type { Context } from '#server/context.ts';
import { inTransaction } from '#server/db/transaction.ts';
import { addJob } from '#server/jobs/add-job.ts';

import { applyFacts } from './apply-events.ts';
import type { BillingEvent, CustomerDetails } from './facts.ts';
import { PaddleApiError } from './providers/paddle/paddle-api.ts';
import { lockBilling } from './queries/lock.ts';

/** Who is looked up. */
export interface CustomerName {
  readonly provider: string;
  readonly customerId: string;
}

/** What a look-up needs of the context. */
export type LookUpContext = Pick<
  Context,
  'catalog' | 'clock' | 'log' | 'paddleApi' | 'pool' | 'vault' | 'wantedEvents'
>;

/**
 * Asks the provider for a customer of whom no event has told, and applies the answer as one: what waits for the address is
 * sent. Of a provider that cannot be asked, or has no such customer, an event may still tell.
 * @throws PaddleApiError when it is worth asking again
 */
export async function lookUpCustomer(
  ctx: LookUpContext,
  name: CustomerName,
  signal?: AbortSignal,
): Promise<void> {
  if (name.provider !== 'paddle' || ctx.paddleApi === null) return;
  const askedAt = ctx.clock.now();
  try {
    const found = await ctx.paddleApi.findCustomer(name.customerId, signal);
    if (found === null) ctx.log.warn('Paddle knows no such customer; its buyer gets no e-mail');
    else await applyCustomer(ctx, name.customerId, found, askedAt);
  } catch (error) {
    if (!(error instanceof PaddleApiError) || error.retryAfterSeconds === null) throw error;
    const runAt = new Date(askedAt.getTime() + error.retryAfterSeconds * 1_000);
    await addJob(ctx.pool, 'look_up_customer', name, { key: `paddle:${name.customerId}`, runAt });
  }
}

/** The answer is what holds at the moment of asking: newer than every event until then, and older than those after. */
async function applyCustomer(
  ctx: LookUpContext,
  customerId: string,
  customer: CustomerDetails,
  occurredAt: Date,
): Promise<void> {
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
  });
}
