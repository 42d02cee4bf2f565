import { toDate, type Paid, type Plan, type Returned, type State } from '../happenings.ts';
import { feeOf } from '../money.ts';
import { nameOf, type Writer } from './delivery.ts';

const ORIGINS = {
  purchase: 'web',
  renewal: 'subscription_recurring',
  change: 'subscription_update',
} as const;

/** Writes events of Paddle Billing. */
export const writePaddle: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid': {
      const { customer } = writeCustomer(happening);
      const own = toEvent(happening, 'transaction.completed', writeTransaction(happening));
      return happening.number === 1 ? [own, customer] : [own];
    }
    case 'state': {
      const type = happening.isFirst ? 'created' : happening.status;
      const name = type === 'active' ? 'updated' : type;
      return [toEvent(happening, `subscription.${name}`, writeSubscription(happening))];
    }
    case 'refunded':
    case 'disputed':
    case 'won':
      return [toEvent(happening, 'adjustment.created', writeAdjustment(happening))];
  }
};

function toEvent(happening: Paid | State | Returned, type: string, data: object) {
  const time = toDate(happening.day).toISOString();
  const eventId = `evt_${nameOf.customer(happening.buyer)}_${type}_${happening.day.toFixed(4)}`;
  const body = { event_id: eventId, event_type: type, occurred_at: time, data };
  const payment = happening.kind === 'paid' ? happening : null;
  return { eventId, day: happening.day, body: JSON.stringify(body), payment };
}

function writeCustomer({ buyer, day }: Paid) {
  const eventId = `evt_${nameOf.customer(buyer)}`;
  const data = { id: nameOf.customer(buyer), email: buyer.email, name: 'A Buyer', locale: 'en' };
  const time = toDate(day).toISOString();
  const body = { event_id: eventId, event_type: 'customer.created', occurred_at: time, data };
  return { customer: { eventId, day, body: JSON.stringify(body), payment: null } };
}

function writePrice(plan: Plan) {
  const cycle = plan.cycle === null ? null : { interval: plan.cycle, frequency: 1 };
  return { id: nameOf.price(plan), billing_cycle: cycle };
}

function writePeriod(from: number, until: number) {
  return { starts_at: toDate(from).toISOString(), ends_at: toDate(until).toISOString() };
}

function writeTransaction(paid: Paid) {
  const { plan, buyer, amount, origin, from, until, quantity = 1 } = paid;
  const { currency, country } = buyer.market;
  const [total, tax] = [String(amount), String(paid.tax)];
  const fee = String(feeOf(buyer.provider, amount));
  return {
    id: nameOf.payment(paid),
    status: 'completed',
    origin: ORIGINS[origin],
    customer_id: nameOf.customer(buyer),
    subscription_id: plan.cycle === null ? null : nameOf.subscription(buyer),
    currency_code: currency,
    billing_period: until === null || plan.cycle === null ? null : writePeriod(from, until),
    items: [{ price: writePrice(plan), quantity }],
    address: { country_code: country },
    details: {
      totals: { total, grand_total: total, tax, fee, currency_code: currency },
      line_items: [
        {
          id: `item_${nameOf.payment(paid)}`,
          price_id: nameOf.price(plan),
          totals: { total, tax },
        },
      ],
    },
    custom_data: paid.custom ?? {},
  };
}

function writeSubscription(state: State) {
  const { buyer, plan, status, day, from, until, isFirst, quantity = 1 } = state;
  const hasPeriod = status !== 'paused' && status !== 'canceled';
  return {
    id: nameOf.subscription(buyer),
    status,
    ...(isFirst ? { transaction_id: `txn_${buyer.number}_1` } : {}),
    customer_id: nameOf.customer(buyer),
    current_billing_period: hasPeriod ? writePeriod(from, until) : null,
    paused_at: status === 'paused' ? toDate(day).toISOString() : null,
    canceled_at: status === 'canceled' ? toDate(day).toISOString() : null,
    scheduled_change: null,
    billing_cycle: writePrice(plan).billing_cycle,
    items: [{ price: writePrice(plan), quantity, recurring: true }],
    custom_data: state.custom ?? {},
  };
}

const ACTIONS = { refunded: 'refund', disputed: 'chargeback', won: 'chargeback_reverse' } as const;

function writeAdjustment({ kind, payment, amount, tax, day, buyer }: Returned) {
  return {
    id: `adj_${nameOf.payment(payment)}_${kind}_${day.toFixed(4)}`,
    action: ACTIONS[kind],
    type: amount === payment.amount ? 'full' : 'partial',
    status: 'approved',
    transaction_id: nameOf.payment(payment),
    currency_code: buyer.market.currency,
    items: [],
    totals: { total: String(amount), tax: String(tax) },
  };
}
