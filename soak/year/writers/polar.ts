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

function writeOrder(type: string, paid: Paid, day: number, refunded = 0): PolarTestEvent {
  const { buyer, plan, amount, origin, number, custom = {} } = paid;
  const isFull = refunded === amount;
  const status = refunded === 0 ? 'paid' : isFull ? 'refunded' : 'partially_refunded';
  const subscriptionId = plan.cycle === null ? null : toId(4, buyer.number);
  return polarOrder(type, {
    at: toDate(day),
    orderId: toId(3, buyer.number * 1_000 + number),
    subscriptionId,
    reason: plan.cycle === null ? 'purchase' : REASONS[origin],
    total: amount,
    refunded,
    status,
    object: {
      ...writeBuyer(buyer),
      metadata: custom,
      tax_amount: 0,
      created_at: toDate(paid.day).toISOString(),
      checkout_id: origin === 'purchase' ? toId(2, buyer.number) : null,
      product_id: nameProduct(plan),
      product: { id: nameProduct(plan), is_recurring: plan.cycle !== null },
      seats: readSeats(paid),
      subscription: subscriptionId && { id: subscriptionId, ...writeCycle(plan) },
    },
  });
}

/** Polar sells quantities as seats; null: the product has none. */
function readSeats({ quantity }: AnyHappening): number | null {
  return quantity ?? null;
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
  const { buyer, plan, status, day, from, until, isFirst, custom = {} } = state;
  const at = toDate(day);
  return polarSubscription(`subscription.${isFirst ? 'created' : TYPES[status]}`, {
    at,
    subscriptionId: toId(4, buyer.number),
    status,
    startsAt: toDate(from),
    endsAt: toDate(until),
    productId: nameProduct(plan),
    object: {
      ...writeBuyer(buyer),
      ...writeCycle(plan),
      seats: readSeats(state),
      metadata: custom,
      checkout_id: toId(2, buyer.number),
      amount: plan.amount,
      ended_at: status === 'canceled' ? at.toISOString() : null,
    },
  });
}

function writeRefund({ payment, amount, day }: Returned): PolarTestEvent {
  return writeOrder('order.refunded', payment, day, amount);
}
