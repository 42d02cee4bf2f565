import { toDate, type AnyHappening, type Paid, type Returned, type State } from '../happenings.ts';
import { hashBody, nameOf, numberCustomer, type Writer } from './delivery.ts';

const iso = (day: number): string => toDate(day).toISOString();
const numberOf = (paid: Paid): number => paid.buyer.number * 1_000 + paid.number;

/** Writes events of Lemon Squeezy, whose order, subscription and invoice are separate. */
export const writeLemonSqueezy: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return writePayment(happening);
    case 'state':
      return [
        toEvent(happening, readName(happening), 'subscriptions', writeSubscription(happening)),
      ];
    case 'refunded':
      return [writeRefund(happening)];
    case 'disputed':
    case 'won':
      return [];
  }
};

function toEvent(
  happening: AnyHappening,
  name: string,
  type: string,
  attributes: { readonly id: number },
) {
  const { id, ...rest } = attributes;
  const payment = happening.kind === 'paid' ? happening : null;
  const meta = { event_name: name, test_mode: false, custom_data: happening.custom ?? {} };
  const data = { type, id: String(id), attributes: { updated_at: iso(happening.day), ...rest } };
  const body = JSON.stringify({ meta, data });
  const eventId = hashBody(body);
  return { eventId, day: happening.day, body, payment };
}

function writePayment(paid: Paid) {
  if (paid.origin !== 'purchase') {
    return [
      toEvent(paid, 'subscription_payment_success', 'subscription-invoices', writeInvoice(paid)),
    ];
  }
  const order = toEvent(paid, 'order_created', 'orders', writeOrder(paid));
  if (paid.plan.cycle === null) return [order];
  const first = toEvent(
    paid,
    'subscription_payment_success',
    'subscription-invoices',
    writeInvoice(paid),
  );
  return [order, { ...first, payment: null }];
}

function writeOrder(paid: Paid) {
  const { buyer, plan, amount, tax, day, quantity = 1 } = paid;
  return {
    id: numberOf(paid),
    identifier: nameOf.payment(paid),
    customer_id: numberCustomer(buyer),
    user_email: buyer.email,
    user_name: 'A Buyer',
    currency: buyer.market.currency,
    total: amount,
    tax,
    tax_inclusive: buyer.market.isTaxIncluded,
    status: 'paid',
    refunded: false,
    refunded_amount: 0,
    first_order_item: { id: numberOf(paid), variant_id: plan.number, quantity },
    created_at: iso(day),
  };
}

const REASONS = { purchase: 'initial', renewal: 'renewal', change: 'updated' } as const;

function writeInvoice(paid: Paid) {
  const { buyer, amount, tax, origin, day } = paid;
  return {
    id: numberOf(paid),
    subscription_id: buyer.number,
    customer_id: numberCustomer(buyer),
    user_email: buyer.email,
    billing_reason: REASONS[origin],
    status: 'paid',
    currency: buyer.market.currency,
    total: amount,
    tax,
    created_at: iso(day),
  };
}

const STATUSES = {
  active: 'active',
  trialing: 'on_trial',
  past_due: 'past_due',
  paused: 'paused',
  canceled: 'expired',
} as const;

function readName({ isFirst, status }: State): string {
  if (isFirst) return 'subscription_created';
  return status === 'canceled' ? 'subscription_expired' : 'subscription_updated';
}

function writeSubscription({ buyer, plan, status, day, until, quantity = 1 }: State) {
  return {
    id: buyer.number,
    order_id: buyer.number * 1_000 + 1,
    order_item_id: buyer.number * 1_000 + 1,
    customer_id: numberCustomer(buyer),
    variant_id: plan.number,
    user_email: buyer.email,
    status: STATUSES[status],
    renews_at: iso(until),
    trial_ends_at: status === 'trialing' ? iso(until) : null,
    ends_at: status === 'canceled' ? iso(day) : null,
    pause: status === 'paused' ? { mode: 'void' } : null,
    first_subscription_item: { quantity },
    created_at: iso(day),
  };
}

function writeRefund(returned: Returned) {
  const { payment, amount } = returned;
  const status = amount === payment.amount ? 'refunded' : 'partial_refund';
  const refund = { status, refunded: amount === payment.amount, refunded_amount: amount };
  return payment.origin === 'purchase'
    ? toEvent(returned, 'order_refunded', 'orders', { ...writeOrder(payment), ...refund })
    : toEvent(returned, 'subscription_payment_refunded', 'subscription-invoices', {
        ...writeInvoice(payment),
        ...refund,
      });
}
