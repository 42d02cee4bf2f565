import {
  toDate,
  type AnyHappening,
  type Buyer,
  type Paid,
  type Plan,
  type Returned,
  type State,
} from '../happenings.ts';
import { nameOf, type Writer } from './delivery.ts';

const REASONS = {
  purchase: 'subscription_create',
  renewal: 'subscription_cycle',
  change: 'subscription_update',
} as const;

const seconds = (day: number): number => Math.floor(toDate(day).getTime() / 1_000);
const priceOf = (plan: Plan): string => nameOf.price(plan).replace('pri_', 'price_');
const currencyOf = ({ market }: Buyer): string => market.currency.toLowerCase();
const intentOf = (paid: Paid): string => `pi_${nameOf.payment(paid)}`;

/** Writes events of Stripe, in the API version 2025-03-31 (Basil). */
export const writeStripe: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return happening.plan.cycle === null
        ? [toEvent(happening, 'checkout.session.completed', writeSession(happening), happening)]
        : writeSubscriptionPayment(happening);
    case 'state':
      return [toEvent(happening, readType(happening), writeSubscription(happening))];
    case 'refunded':
      return [toEvent(happening, 'refund.created', writeRefund(happening))];
    case 'disputed':
      return [toEvent(happening, 'charge.dispute.created', writeDispute(happening))];
    case 'won':
      return [toEvent(happening, 'charge.dispute.closed', writeDispute(happening))];
  }
};

function readType({ isFirst, status }: State): string {
  if (isFirst) return 'customer.subscription.created';
  return `customer.subscription.${status === 'canceled' ? 'deleted' : 'updated'}`;
}

function toEvent(
  { buyer, day }: AnyHappening,
  type: string,
  object: object,
  payment: Paid | null = null,
) {
  const eventId = `evt_${buyer.number}_${type}_${day.toFixed(4)}`;
  const created = seconds(day);
  const body = { id: eventId, object: 'event', type, created, livemode: true, data: { object } };
  return { eventId, day, body: JSON.stringify(body), payment };
}

function writeSubscriptionPayment(paid: Paid) {
  const invoice = toEvent(paid, 'invoice.paid', writeInvoice(paid), paid);
  const link = toEvent(paid, 'invoice_payment.paid', {
    id: `inpay_${nameOf.payment(paid)}`,
    created: seconds(paid.day),
    invoice: nameOf.payment(paid),
    payment: { type: 'payment_intent', payment_intent: intentOf(paid) },
  });
  const started = paid.number === 1 && paid.origin === 'purchase';
  return started
    ? [toEvent(paid, 'checkout.session.completed', writeSession(paid)), invoice, link]
    : [invoice, link];
}

function writeSession(paid: Paid) {
  const { plan, buyer, amount, day, quantity = 1 } = paid;
  const isOnce = plan.cycle === null;
  const custom = paid.custom ?? {};
  const { country } = buyer.market;
  return {
    id: `cs_${nameOf.payment(paid)}`,
    mode: isOnce ? 'payment' : 'subscription',
    created: seconds(day),
    amount_total: amount,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: paid.tax },
    currency: currencyOf(buyer),
    customer: isOnce ? null : nameOf.customer(buyer),
    customer_details: { email: buyer.email, name: 'A Buyer', address: { country } },
    invoice: isOnce ? null : nameOf.payment(paid),
    payment_intent: isOnce ? intentOf(paid) : null,
    payment_status: amount === 0 ? 'no_payment_required' : 'paid',
    subscription: isOnce ? null : nameOf.subscription(buyer),
    metadata: isOnce ? { ...custom, price_id: priceOf(plan), quantity: String(quantity) } : custom,
  };
}

/** The amount of a line lacks the tax that is added to it. */
function writeLine(
  { buyer, quantity = 1 }: Paid,
  plan: Plan,
  from: number,
  until: number,
  [amount, tax]: readonly [number, number],
) {
  const { market, number } = buyer;
  const item = `si_${number}`;
  const proration = amount < 0;
  return {
    id: `il_${item}_${priceOf(plan)}`,
    amount: market.isTaxIncluded ? amount : amount - tax,
    taxes: [{ amount: tax, tax_behavior: behaviorOf(market) }],
    currency: market.currency.toLowerCase(),
    quantity,
    parent: {
      type: 'subscription_item_details',
      subscription_item_details: { proration, subscription_item: item },
    },
    period: { start: seconds(from), end: seconds(until) },
    pricing: { type: 'price_details', price_details: { price: priceOf(plan) } },
  };
}

function behaviorOf({ isTaxIncluded }: Buyer['market']): string {
  return isTaxIncluded ? 'inclusive' : 'exclusive';
}

function writeInvoice(paid: Paid) {
  const { buyer, plan, amount, day, from, until, credit, origin } = paid;
  const credits =
    credit === undefined
      ? []
      : [writeLine(paid, credit.plan, from, credit.until, [-1 - credit.plan.amount, 0])];
  return {
    id: nameOf.payment(paid),
    billing_reason: REASONS[origin],
    amount_paid: amount,
    total: amount,
    total_taxes: [{ amount: paid.tax, tax_behavior: behaviorOf(buyer.market) }],
    currency: currencyOf(buyer),
    customer: nameOf.customer(buyer),
    customer_email: buyer.email,
    customer_address: { country: buyer.market.country },
    created: seconds(day),
    status_transitions: { paid_at: seconds(day) },
    parent: {
      subscription_details: {
        subscription: nameOf.subscription(buyer),
        metadata: paid.custom ?? {},
      },
    },
    lines: { data: [...credits, writeLine(paid, plan, from, until ?? from, [amount, paid.tax])] },
  };
}

const STATUSES = {
  paused: 'paused',
  active: 'active',
  trialing: 'trialing',
  past_due: 'past_due',
  canceled: 'canceled',
};

function writeSubscription(state: State) {
  const { buyer, plan, status, day, from, until, quantity = 1 } = state;
  const item = {
    id: `si_${buyer.number}`,
    current_period_start: seconds(from),
    current_period_end: seconds(until),
    price: { id: priceOf(plan), recurring: { interval: plan.cycle, interval_count: 1 } },
    quantity,
  };
  return {
    id: nameOf.subscription(buyer),
    status: STATUSES[status],
    customer: nameOf.customer(buyer),
    collection_method: 'charge_automatically',
    ended_at: status === 'canceled' ? seconds(day) : null,
    items: { data: [item] },
    latest_invoice: `txn_${buyer.number}_1`,
    pause_collection: null,
    metadata: state.custom ?? {},
  };
}

function writeRefund({ payment, amount, day, buyer }: Returned) {
  return {
    id: `re_${nameOf.payment(payment)}_${day.toFixed(4)}`,
    amount,
    currency: currencyOf(buyer),
    status: 'succeeded',
    payment_intent: intentOf(payment),
    charge: `ch_${nameOf.payment(payment)}`,
  };
}

function writeDispute({ kind, payment, amount, buyer }: Returned) {
  return {
    id: `dp_${nameOf.payment(payment)}`,
    amount,
    currency: currencyOf(buyer),
    status: kind === 'won' ? 'won' : 'needs_response',
    payment_intent: intentOf(payment),
    charge: `ch_${nameOf.payment(payment)}`,
  };
}
