import {
  polarOrder,
  polarSubscription,
  type PolarTestEvent,
} from '../../../server/test/payment-providers/polar-events.ts';
import {
  toDate,
  type AnyHappening,
  type Buyer,
  type Paid,
  type Plan,
  type Returned,
  type State,
} from '../happenings.ts';
import { toPrice } from '../money.ts';
import { numberCustomer, type Writer } from './delivery.ts';

/** Ids are UUIDs, which end with a number. */
const toId = (kind: number, number: number): string =>
  `${kind}0000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** Returns the id of a plan's product, which the catalogue has as a price. */
export const nameProduct = ({ number }: Plan): string => toId(1, number);

const REASONS = {
  purchase: 'subscription_create',
  renewal: 'subscription_cycle',
  change: 'subscription_update',
} as const;

/** Writes events of Polar, which reports neither payments of nothing nor disputes. */
export const writePolar: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return happening.amount === 0
        ? []
        : [toEvent(happening, writeOrder('order.paid', happening, happening.day))];
    case 'state':
      return [toEvent(happening, writeState(happening))];
    case 'refunded':
      return [toEvent(happening, writeRefund(happening))];
    case 'disputed':
    case 'won':
      return [];
  }
};

function toEvent(happening: AnyHappening, event: PolarTestEvent) {
  const { buyer, day } = happening;
  const eventId = `msg_polar_${buyer.number}_${event.type}_${day.toFixed(4)}`.replaceAll('.', '-');
  const payment = happening.kind === 'paid' ? happening : null;
  return { eventId, day, body: JSON.stringify(event), payment };
}

function writeBuyer(buyer: Buyer) {
  const id = toId(5, numberCustomer(buyer));
  return { customer_id: id, customer: { id, email: buyer.email, name: 'A Buyer' } };
}

/** A refund is written without its tax, which is a separate amount. */
function writeOrder(
  type: string,
  paid: Paid,
  day: number,
  { amount: refunded, tax: refundedTax } = { amount: 0, tax: 0 },
): PolarTestEvent {
  const { buyer, plan, amount, tax, origin, number, quantity } = paid;
  const isFull = refunded === amount;
  const { currency, country } = buyer.market;
  const status = refunded === 0 ? 'paid' : isFull ? 'refunded' : 'partially_refunded';
  const subscriptionId = plan.cycle === null ? null : toId(4, buyer.number);
  return polarOrder(type, {
    at: toDate(day),
    orderId: toId(3, buyer.number * 1_000 + number),
    subscriptionId,
    reason: plan.cycle === null ? 'purchase' : REASONS[origin],
    total: amount,
    refunded: refunded - refundedTax,
    // Null: the product has no seats.
    seats: quantity ?? null,
    status,
    object: {
      ...writeBuyer(buyer),
      currency: currency.toLowerCase(),
      subtotal_amount: amount - tax,
      net_amount: amount - tax,
      tax_amount: tax,
      refunded_tax_amount: refundedTax,
      billing_address: { country },
      metadata: paid.custom ?? {},
      created_at: toDate(paid.day).toISOString(),
      checkout_id: origin === 'purchase' ? toId(2, buyer.number * 1_000 + number) : null,
      product_id: nameProduct(plan),
      product: { id: nameProduct(plan), is_recurring: plan.cycle !== null },
      subscription: subscriptionId && { id: subscriptionId, ...writeCycle(plan) },
    },
  });
}

function writeCycle({ cycle }: Plan) {
  return { recurring_interval: cycle, recurring_interval_count: 1 };
}

const TYPES = {
  active: 'updated',
  trialing: 'updated',
  past_due: 'past_due',
  paused: 'paused',
  canceled: 'revoked',
} as const;

function writeState(state: State): PolarTestEvent {
  const { buyer, plan, status, day, from, until, isFirst, quantity } = state;
  const at = toDate(day);
  return polarSubscription(`subscription.${isFirst ? 'created' : TYPES[status]}`, {
    at,
    subscriptionId: toId(4, buyer.number),
    status,
    startsAt: toDate(from),
    endsAt: toDate(until),
    productId: nameProduct(plan),
    seats: quantity ?? null,
    object: {
      ...writeBuyer(buyer),
      ...writeCycle(plan),
      checkout_id: toId(2, buyer.number * 1_000 + 1),
      currency: buyer.market.currency.toLowerCase(),
      amount: toPrice(buyer.market, plan.amount),
      metadata: state.custom ?? {},
      ended_at: status === 'canceled' ? at.toISOString() : null,
    },
  });
}

function writeRefund({ payment, amount, tax, day }: Returned): PolarTestEvent {
  return writeOrder('order.refunded', payment, day, { amount, tax });
}
