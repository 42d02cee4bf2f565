import {
  dodoDispute,
  dodoPayment,
  dodoRefund,
  dodoSubscription,
  type DodoTestEvent,
} from '../../../server/test/payment-providers/dodo-events.ts';
import {
  toDate,
  type AnyHappening,
  type Buyer,
  type Paid,
  type Plan,
  type State,
} from '../happenings.ts';
import { nameOf, numberCustomer, type Writer } from './delivery.ts';

/** Returns the id of a plan's product, which the catalogue has as a price. */
export const nameProduct = (plan: Plan): string => nameOf.price(plan).replace('pri_', 'pdt_');
const nameSubscription = ({ number }: Buyer): string => `sub_${number}`;
const namePayment = ({ buyer, number }: Paid): string => `pay_${buyer.number}_${number}`;

/** Writes events of Dodo Payments, which reports no payments of nothing. */
export const writeDodo: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return happening.amount === 0 ? [] : [toEvent(happening, writePayment(happening))];
    case 'state':
      return [toEvent(happening, writeState(happening))];
    case 'refunded': {
      const { payment, amount, day } = happening;
      const refund = dodoRefund({
        at: toDate(day),
        refundId: `ref_${namePayment(payment)}`,
        paymentId: namePayment(payment),
        amount,
        isPartial: amount < payment.amount,
      });
      return [toEvent(happening, refund)];
    }
    case 'disputed':
    case 'won': {
      const { payment, day, kind } = happening;
      const id = namePayment(payment);
      const object = { dispute_id: `dp_${id}`, payment_id: id };
      const dispute = dodoDispute(kind === 'won' ? 'dispute.won' : 'dispute.opened', {
        at: toDate(day),
        object,
      });
      return [toEvent(happening, dispute)];
    }
  }
};

function toEvent(happening: AnyHappening, event: DodoTestEvent) {
  const { buyer, day } = happening;
  const eventId = `msg_dodo_${buyer.number}_${event.type}_${day.toFixed(4)}`.replaceAll('.', '-');
  const payment = happening.kind === 'paid' ? happening : null;
  return { eventId, day, body: JSON.stringify(event), payment };
}

function writeCustomer(buyer: Buyer) {
  const { email } = buyer;
  return { customer: { customer_id: `cus_${numberCustomer(buyer)}`, email, name: 'A Buyer' } };
}

function writePayment(paid: Paid): DodoTestEvent {
  const { buyer, plan, amount, day, quantity = 1, custom = {} } = paid;
  const isOnce = plan.cycle === null;
  return dodoPayment('payment.succeeded', {
    at: toDate(day),
    paymentId: namePayment(paid),
    subscriptionId: isOnce ? null : nameSubscription(buyer),
    total: amount,
    object: {
      ...writeCustomer(buyer),
      tax: 0,
      metadata: custom,
      product_cart: isOnce ? [{ product_id: nameProduct(plan), quantity }] : null,
    },
  });
}

const STATUSES = {
  active: 'active',
  trialing: 'active',
  past_due: 'on_hold',
  paused: 'paused',
  canceled: 'cancelled',
} as const;

const INTERVALS = { month: 'Month', year: 'Year' } as const;

function writeState(state: State): DodoTestEvent {
  const { buyer, plan, status, day, from, until, isFirst, quantity = 1, custom = {} } = state;
  const name = STATUSES[status];
  const isActive = name === 'active';
  const time = toDate(day).toISOString();
  return dodoSubscription(`subscription.${isActive && !isFirst ? 'updated' : name}`, {
    at: toDate(day),
    status: name,
    startsAt: toDate(from),
    endsAt: toDate(until),
    productId: nameProduct(plan),
    quantity,
    trialDays: status === 'trialing' ? Math.round(until - from) : 0,
    object: {
      ...writeCustomer(buyer),
      subscription_id: nameSubscription(buyer),
      created_at: toDate(from).toISOString(),
      payment_frequency_interval: plan.cycle === null ? null : INTERVALS[plan.cycle],
      metadata: custom,
      recurring_pre_tax_amount: plan.amount,
      cancelled_at: status === 'canceled' ? time : null,
    },
  });
}
