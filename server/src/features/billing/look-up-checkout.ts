import { createHash } from 'node:crypto';

import { inTransaction } from '#server/db/transaction.ts';

import { applyFacts, recomputePurchases } from './apply-events.ts';
import type { BillingDependencies } from './dependencies.ts';
import { LINKING_PAYMENT, type BillingEvent } from './facts.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { insertFacts, lockBilling } from './queries/ledger.ts';
import { queueCheckoutLookUps, type OpenCheckout } from './queue-jobs.ts';

/**
 * Asks Stripe what a checkout sold, and applies the response as an event. If Stripe refuses, does not have the checkout, or it sold
 * nothing, the payment needs attention with that cause.
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
      await recordRefusal(
        deps,
        checkout,
        'it has no such checkout for this key, or no lines of it',
      );
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
    if (!(error instanceof ProviderApiError)) throw error;
    if (error.retryAfterSeconds === null) {
      if (isRefusal(error)) await recordRefusal(deps, checkout, error.reason ?? error.message);
      throw error;
    }
    const runAt = new Date(requestedAt.getTime() + error.retryAfterSeconds * 1_000);
    await queueCheckoutLookUps(deps.pool, [checkout], runAt);
  }
}

/** Whether the provider answered, so that only an operator can change it. */
function isRefusal({ status }: ProviderApiError): boolean {
  return status !== null && status >= 400 && status < 500;
}

/** Stores why a checkout could not be looked up as a fact, so that its event says it now and when it is replayed. */
async function recordRefusal(
  deps: BillingDependencies,
  { provider, transactionId, checkoutId }: OpenCheckout,
  reason: string,
): Promise<void> {
  const problem = `Stripe does not report what this checkout sold, and answers "${reason}" when it is asked: check LATCHKEY_STRIPE_API_KEY, whose key must be allowed to read checkout sessions, and replay the event; or issue a license for this sale.`;
  const hash = createHash('sha256').update(reason).digest('hex').slice(0, 16);
  const eventId = `refused:${checkoutId}:${hash}`;
  const occurredAt = deps.clock.now();
  const fact = { ...LINKING_PAYMENT, transactionId, occurredAt, problem };
  await inTransaction(deps.pool, async (client) => {
    await lockBilling(client);
    await insertFacts(client, [{ provider, eventId, fact }]);
    // This refusal must not cause another look-up.
    const references = [{ provider, kind: 'transaction' as const, id: transactionId }];
    await recomputePurchases({ ...deps, stripeApi: null }, client, references);
  });
}
