import {
  defineAdapter,
  requireId,
  type Interpretation,
  type ProviderEvent,
  type Verification,
  type VerifyOptions,
  type WebhookDelivery,
} from '../adapter.ts';
import {
  isObject,
  readEmail,
  readList,
  readName,
  readObject,
  readText,
  readUnixSeconds,
} from '../fields.ts';
import { MIN_TOLERANCE_SECONDS, readHeader, verifyTimedSignature } from '../signatures.ts';
import { readCheckout } from './checkout.ts';
import { readInvoice, readInvoicePayment } from './invoice.ts';
import { readDispute, readRefund, readRefundedCharge } from './money-back.ts';
import { readSubscription } from './subscription.ts';

const READERS: ReadonlyMap<string, (event: ProviderEvent) => Interpretation> = new Map([
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

function readCustomer(event: ProviderEvent): Interpretation {
  const customer = event.data;
  return [
    {
      kind: 'customer',
      customerId: requireId(event, 'id'),
      occurredAt: event.occurredAt,
      customer: {
        email: readEmail(customer['email']),
        name: readText(customer['name']),
        locale: readText(readList(customer['preferred_locales'])[0], 35),
      },
    },
  ];
}

/**
 * Verifies a signature of Stripe: the header is `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`, and `v1` is the HMAC-SHA256 of `t`,
 * a full stop and the raw body under the endpoint's secret, including its prefix `whsec_`. There are several `v1` while a
 * secret is rotated. Unlike Stripe's libraries, times in the future are refused too.
 * @see https://docs.stripe.com/webhooks?verify=verify-manually
 */
function verify({ headers, rawBody }: WebhookDelivery, options: VerifyOptions): Verification {
  const header = readHeader(headers, 'stripe-signature');
  const pairs = header === null ? null : header.split(',').map((pair) => pair.trim());
  const toleranceSeconds = Math.max(options.toleranceSeconds, MIN_TOLERANCE_SECONDS);
  const format = { timeKey: 't', signatureKey: 'v1', joiner: '.' };
  return verifyTimedSignature(pairs, rawBody, format, { ...options, toleranceSeconds });
}

/**
 * Translates an event of Stripe, in API versions before and since 2025-03-31 (Basil). Its times are whole seconds.
 * @throws MalformedEventError if the body is not an event, or lacks an id that its type requires
 * @see https://docs.stripe.com/api/events/types
 */
export const stripeAdapter = defineAdapter({
  provider: 'stripe',
  verify,
  fields: { eventId: 'id', type: 'type', occurrence: 'created', data: 'data.object' },
  read: ({ id, type, created, data, livemode }) => {
    const occurredAt = readUnixSeconds(created);
    const { object } = readObject(data);
    return {
      eventId: readName(id),
      type: readName(type),
      occurrence: occurredAt && { occurredAt },
      data: isObject(object) ? object : undefined,
      isTest: livemode === false,
    };
  },
  interpret: (event) => READERS.get(event.type)?.(event),
});
