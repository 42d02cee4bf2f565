import { inTransaction } from '#server/db/transaction.ts';

import { applyFacts } from './apply-events.ts';
import type { BillingDependencies } from './dependencies.ts';
import { LINKING_PAYMENT, type BillingEvent } from './facts.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { lockBilling } from './queries/ledger.ts';
import { queueCheckoutLookUps, type OpenCheckout } from './queue-jobs.ts';

/**
 * Asks Stripe what a checkout sold, and applies the response as an event. If Stripe does not have the checkout, or it sold
 * nothing, the payment still needs attention.
 * @throws ProviderApiError if a retry may succeed
 */
export async function lookUpCheckout(
  deps: BillingDependencies,
  checkout: OpenCheckout,
  signal?: AbortSignal,
): Promise<void> {
  const { provider, transactionId, checkoutId } = checkout;
  if (deps.stripeApi === null) return;
  const requestedAt = deps.clock.now();
  try {
    const lines = await deps.stripeApi.listLineItems(checkoutId, signal);
    if (lines === null || lines.length === 0) {
      const fields = { event: 'payments.checkout_without_lines', provider };
      deps.log.warn(fields, 'Stripe has no such checkout, or no lines of it');
      return;
    }
    const event: BillingEvent = {
      provider,
      eventId: `looked_up:${checkoutId}`,
      type: 'checkout.looked_up',
      occurredAt: requestedAt,
      facts: [{ ...LINKING_PAYMENT, transactionId, occurredAt: requestedAt, lines }],
      ignoredBecause: null,
    };
    await inTransaction(deps.pool, async (client) => {
      await lockBilling(client);
      await applyFacts(deps, client, [event]);
    });
  } catch (error) {
    if (!(error instanceof ProviderApiError) || error.retryAfterSeconds === null) throw error;
    const runAt = new Date(requestedAt.getTime() + error.retryAfterSeconds * 1_000);
    await queueCheckoutLookUps(deps.pool, [checkout], runAt);
  }
}
