import type { BillingEvent } from '../../facts.ts';
import { toBillingEvent, type BillingAdapter, type Interpretation } from '../adapter.ts';
import { readEmail, readList, readText } from '../fields.ts';
import { readCheckout } from './checkout.ts';
import { readEnvelope, requireId, type StripeEvent } from './envelope.ts';
import { readInvoice, readInvoicePayment } from './invoice.ts';
import { readDispute, readRefund, readRefundedCharge } from './money-back.ts';
import { readSubscription } from './subscription.ts';
import { verifyStripe } from './verify.ts';

export const stripeAdapter: BillingAdapter = {
  provider: 'stripe',
  verify: verifyStripe,
  normalize: normalizeStripe,
};

const READERS: ReadonlyMap<string, (event: StripeEvent) => Interpretation> = new Map([
  ['checkout.session.completed', readCheckout],
  ['checkout.session.async_payment_succeeded', readCheckout],
  ['invoice.paid', readInvoice],
  ['invoice_payment.paid', readInvoicePayment],
  ['customer.subscription.created', readSubscription],
  ['customer.subscription.updated', readSubscription],
  ['customer.subscription.deleted', readSubscription],
  ['customer.subscription.paused', readSubscription],
  ['customer.subscription.resumed', readSubscription],
  ['customer.subscription.trial_will_end', readSubscription],
  ['customer.subscription.pending_update_applied', readSubscription],
  ['customer.subscription.pending_update_expired', readSubscription],
  ['refund.created', readRefund],
  ['refund.updated', readRefund],
  ['refund.failed', readRefund],
  ['charge.refund.updated', readRefund],
  ['charge.refunded', readRefundedCharge],
  ['charge.dispute.created', readDispute],
  ['charge.dispute.updated', readDispute],
  ['charge.dispute.closed', readDispute],
  ['charge.dispute.funds_withdrawn', readDispute],
  ['charge.dispute.funds_reinstated', readDispute],
  ['customer.created', readCustomer],
  ['customer.updated', readCustomer],
]);

/**
 * Translates an event of Stripe, in API versions before and since 2025-03-31 (Basil).
 * @throws MalformedEventError if the body is not an event, or lacks an id that its type requires
 * @see https://docs.stripe.com/api/events/types
 */
export function normalizeStripe(body: unknown): BillingEvent {
  const event = readEnvelope(body);
  const { id, type, createdAt } = event;
  return toBillingEvent(
    { provider: 'stripe', eventId: id, type, occurredAt: createdAt },
    READERS.get(type)?.(event),
  );
}

function readCustomer(event: StripeEvent): Interpretation {
  const customer = event.object;
  return [
    {
      kind: 'customer',
      customerId: requireId(event, 'id'),
      occurredAt: event.createdAt,
      customer: {
        email: readEmail(customer['email']),
        name: readText(customer['name']),
        locale: readText(readList(customer['preferred_locales'])[0], 35),
      },
    },
  ];
}
