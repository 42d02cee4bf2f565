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
import { taxOf, toPrice } from '../money.ts';
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
      const { payment, amount, day, buyer } = happening;
      const refund = dodoRefund({
        at: toDate(day),
        refundId: `ref_${namePayment(payment)}`,
        paymentId: namePayment(payment),
        amount,
        isPartial: amount < payment.amount,
        object: { currency: buyer.market.currency },
      });
      return [toEvent(happening, refund)];
    }
    case 'disputed':
    case 'won': {
      const { payment, day, kind, amount, buyer } = happening;
      const { unit, currency } = buyer.market;
      const id = namePayment(payment);
      // In whole units, as a text.
      const disputed = { amount: (amount / unit).toFixed(unit === 1 ? 0 : 2), currency };
      const object = { dispute_id: `dp_${id}`, payment_id: id, ...disputed };
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
  const { buyer, plan, amount, tax, day, quantity = 1 } = paid;
  const { currency, country } = buyer.market;
  const isOnce = plan.cycle === null;
  return dodoPayment('payment.succeeded', {
    at: toDate(day),
    paymentId: namePayment(paid),
    subscriptionId: isOnce ? null : nameSubscription(buyer),
    total: amount,
    object: {
      ...writeCustomer(buyer),
      tax,
      currency,
      billing: { country },
      metadata: paid.custom ?? {},
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
  const { buyer, plan, status, day, from, until, isFirst, quantity = 1 } = state;
  const { market } = buyer;
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
      recurring_pre_tax_amount:
        toPrice(market, plan.amount) - taxOf(market, toPrice(market, plan.amount)),
      currency: market.currency,
      tax_inclusive: market.isTaxIncluded,
      billing: { country: market.country },
      metadata: state.custom ?? {},
      cancelled_at: status === 'canceled' ? time : null,
    },
  });
}
