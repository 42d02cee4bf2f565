import {
  toDate,
  type AnyHappening,
  type Paid,
  type Plan,
  type Returned,
  type State,
} from '../happenings.ts';
import { feeOf } from '../money.ts';
import { nameOf, type Writer } from './delivery.ts';

const TYPES = {
  purchase: 'purchase.completed',
  renewal: 'purchase.renewed',
  change: 'purchase.changed',
} as const;

/** Writes events of an own shop, in the form of Standard Webhooks. */
export const writeOwnShop: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return [toEvent(happening, TYPES[happening.origin], writePayment(happening))];
    case 'state':
      return [toEvent(happening, 'subscription.updated', writeSubscription(happening))];
    case 'refunded':
      return [toEvent(happening, 'payment.refunded', writeRefund(happening))];
    case 'disputed':
      return [toEvent(happening, 'payment.disputed', writeDispute(happening))];
    case 'won':
      return [toEvent(happening, 'payment.dispute_won', writeDispute(happening))];
  }
};

function toEvent(happening: AnyHappening, type: string, data: object) {
  const { buyer, day } = happening;
  // The id is signed with full stops around it, and so contains none.
  const eventId = `msg_${buyer.number}_${type}_${day.toFixed(4)}`.replaceAll('.', '-');
  const body = JSON.stringify({ type, timestamp: toDate(day).toISOString(), data });
  return { eventId, day, body, payment: happening.kind === 'paid' ? happening : null };
}

function writeLine(plan: Plan, total: number | null, quantity = 1) {
  const cycle = plan.cycle === null ? null : { interval: plan.cycle, frequency: 1 };
  return { id: 'line', price_id: nameOf.price(plan), quantity, cycle, total };
}

function writePeriod(from: number, until: number) {
  return { starts_at: toDate(from).toISOString(), ends_at: toDate(until).toISOString() };
}

function writePayment(paid: Paid) {
  const { buyer, plan, amount, tax, from, until, quantity = 1 } = paid;
  const { currency, country } = buyer.market;
  return {
    transaction_id: nameOf.payment(paid),
    subscription_id: plan.cycle === null ? null : nameOf.subscription(buyer),
    customer: { id: nameOf.customer(buyer), email: buyer.email, name: 'A Buyer' },
    period: until === null || plan.cycle === null ? null : writePeriod(from, until),
    lines: [writeLine(plan, amount, quantity)],
    total: amount,
    tax,
    fee: feeOf(buyer.provider, amount),
    currency,
    country,
    custom_data: paid.custom ?? {},
  };
}

function writeSubscription(state: State) {
  const { buyer, plan, status, day, from, until, isFirst, quantity = 1 } = state;
  const time = toDate(day).toISOString();
  return {
    subscription_id: nameOf.subscription(buyer),
    transaction_id: isFirst ? `txn_${buyer.number}_1` : null,
    customer: { id: nameOf.customer(buyer), email: buyer.email },
    status,
    period: status === 'paused' ? null : writePeriod(from, until),
    paused_at: status === 'paused' ? time : null,
    canceled_at: status === 'canceled' ? time : null,
    lines: [writeLine(plan, null, quantity)],
    custom_data: state.custom ?? {},
  };
}

function writeRefund({ payment, amount, tax, day, buyer }: Returned) {
  return {
    refund_id: `ref_${nameOf.payment(payment)}_${day.toFixed(4)}`,
    transaction_id: nameOf.payment(payment),
    full: amount === payment.amount,
    total: amount,
    tax,
    currency: buyer.market.currency,
  };
}

function writeDispute({ payment, amount, tax, buyer }: Returned) {
  return {
    dispute_id: `dis_${nameOf.payment(payment)}`,
    transaction_id: nameOf.payment(payment),
    total: amount,
    tax,
    currency: buyer.market.currency,
  };
}
