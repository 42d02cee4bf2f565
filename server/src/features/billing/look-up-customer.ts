import { inTransaction } from '#server/db/transaction.ts';

import { applyFacts } from './apply-events.ts';
import type { BillingDependencies } from './dependencies.ts';
import { UNKNOWN_CUSTOMER, type BillingEvent, type CustomerDetails } from './facts.ts';
import { listKeyEmailsOfCustomer } from '../key-emails/buyer-queries.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { lockBilling } from './queries/ledger.ts';
import type { CustomerKey } from './queries/purchases.ts';
import { queueCustomerLookUps, queueKeyEmails } from './queue-jobs.ts';

/** Older than every event: a look-up that found nothing must not override any. */
const LONG_AGO = new Date(0);

/**
 * Looks up a customer at Paddle that no event has described, and applies the response as an event, so that waiting
 * e-mails are sent. If Paddle has no such customer, a later event may still describe it; until then the data of the
 * checkout apply.
 * @throws ProviderApiError if a retry may succeed
 */
export async function lookUpCustomer(
  deps: BillingDependencies,
  key: CustomerKey,
  signal?: AbortSignal,
): Promise<void> {
  if (key.provider !== 'paddle' || deps.paddleApi === null) return;
  const requestedAt = deps.clock.now();
  try {
    const found = await deps.paddleApi.findCustomer(key.customerId, signal);
    const isUsable = found !== null && found.email !== null;
    if (!isUsable) {
      deps.log.warn(
        { event: 'payments.customer_without_address' },
        'Paddle has no such customer, or no valid address of it',
      );
    }
    await applyCustomer(deps, key, found ?? UNKNOWN_CUSTOMER, isUsable ? requestedAt : LONG_AGO);
  } catch (error) {
    if (!(error instanceof ProviderApiError) || error.retryAfterSeconds === null) throw error;
    const runAt = new Date(requestedAt.getTime() + error.retryAfterSeconds * 1_000);
    await queueCustomerLookUps(deps.pool, [key], runAt);
  }
}

/** Applies the response as of the time of the request: newer than all earlier events, older than all later ones. */
async function applyCustomer(
  deps: BillingDependencies,
  key: CustomerKey,
  customer: CustomerDetails,
  occurredAt: Date,
): Promise<void> {
  const { customerId } = key;
  const event: BillingEvent = {
    provider: 'paddle',
    eventId: `looked_up:${customerId}`,
    type: 'customer.looked_up',
    occurredAt,
    facts: [{ kind: 'customer', customerId, occurredAt, customer }],
    ignoredBecause: null,
  };
  await inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    await applyFacts(deps, client, [event]);
    await queueKeyEmails(client, await listKeyEmailsOfCustomer(client, key, 'look_up'));
  });
}
