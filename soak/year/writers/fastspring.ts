import {
  fastSpringCharge,
  fastSpringOrder,
  fastSpringReturn,
  fastSpringSubscription,
  type FastSpringTestEvent,
} from '../../../server/test/payment-providers/fastspring-events.ts';
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

/** Returns the path of a plan's product, which the catalogue has as a price. */
export const nameProduct = ({ name }: Plan): string => `plan-${name}`;
const nameSubscription = ({ number }: Buyer): string => `fssub_${number}`;
const nameOrder = ({ buyer, number }: Paid): string => `fsord_${buyer.number}_${number}`;
/** Subscriptions begin up to a month before the year; nothing depends on when. */
const BEFORE_ALL = toDate(-60).getTime();

/** Amounts are whole units with decimals. */
const toUnits = ({ market }: Buyer, amount: number): number => amount / market.unit;

/** Writes events of FastSpring, which reports neither payments of nothing after the order nor disputes. */
export const writeFastSpring: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return writePayment(happening).map((event) => toEvent(happening, event));
    case 'state':
      return [toEvent(happening, writeState(happening))];
    case 'refunded':
      return [toEvent(happening, writeReturn(happening))];
    case 'disputed':
    case 'won':
      return [];
  }
};

function toEvent(happening: AnyHappening, event: FastSpringTestEvent) {
  const { buyer, day } = happening;
  const eventId = `fsev_${buyer.number}_${event.type}_${day.toFixed(4)}`;
  const payment = happening.kind === 'paid' ? happening : null;
  const events = [{ ...event, id: eventId }];
  return { eventId, day, body: JSON.stringify({ events }, createReplacer(happening)), payment };
}

/** Fills in the buyer, the cycle and the currency wherever an order or subscription is expanded. */
function createReplacer(happening: AnyHappening) {
  const { buyer, plan } = happening;
  const account = writeAccount(buyer);
  const tax = happening.kind === 'state' ? 0 : toUnits(buyer, happening.tax);
  return (key: string, value: unknown): unknown => {
    if (key === 'account' && typeof value === 'object') return account;
    if (key === 'begin') return BEFORE_ALL;
    if (key === 'currency') return buyer.market.currency;
    if (key === 'tax') return tax;
    return key === 'intervalUnit' ? plan.cycle : value;
  };
}

function writeAccount(buyer: Buyer) {
  const { email, market } = buyer;
  const id = `fsacc_${numberCustomer(buyer)}`;
  const contact = { first: 'A', last: 'Buyer', email };
  return { id, account: id, contact, language: 'en', country: market.country };
}

function writePayment(paid: Paid): FastSpringTestEvent[] {
  const { buyer, plan, amount, tax, day, origin, until, quantity = 1 } = paid;
  const at = toDate(day);
  const total = toUnits(buyer, amount);
  const subtotal = toUnits(buyer, amount - tax);
  const data = { tags: paid.custom ?? {} };
  const common = { at, orderId: nameOrder(paid), email: buyer.email, total, data };
  const product = nameProduct(plan);
  if (plan.cycle === null) {
    const items = [{ product, quantity, subtotal }];
    return [fastSpringOrder({ ...common, items })];
  }
  const state = amount === 0 ? 'trial' : 'active';
  const subscription = {
    subscriptionId: nameSubscription(buyer),
    product,
    quantity,
    state,
    next: toDate(until ?? day),
  };
  if (origin === 'purchase') {
    const items = [{ subtotal, subscription: { ...subscription, at } }];
    return [fastSpringOrder({ ...common, items })];
  }
  if (amount === 0) return [];
  return [fastSpringCharge({ ...common, ...subscription })];
}

const STATES = {
  active: 'active',
  trialing: 'trial',
  past_due: 'overdue',
  paused: 'paused',
  canceled: 'deactivated',
} as const;

const TYPES = {
  active: 'updated',
  trialing: 'updated',
  past_due: 'payment.overdue',
  paused: 'paused',
  canceled: 'deactivated',
} as const;

function writeState(state: State): FastSpringTestEvent {
  const { buyer, plan, status, day, until, isFirst, quantity = 1 } = state;
  return fastSpringSubscription(isFirst ? 'activated' : TYPES[status], {
    at: toDate(day),
    subscriptionId: nameSubscription(buyer),
    product: nameProduct(plan),
    state: STATES[status],
    next: toDate(until),
    email: buyer.email,
    quantity,
    data: { tags: state.custom ?? {} },
  });
}

function writeReturn({ payment, amount, tax, day }: Returned): FastSpringTestEvent {
  const { buyer, plan } = payment;
  const product = nameProduct(plan);
  const item = { product, subtotal: toUnits(buyer, amount - tax) };
  const subscription = plan.cycle === null ? {} : { subscriptionId: nameSubscription(buyer) };
  return fastSpringReturn({
    at: toDate(day),
    returnId: `fsret_${nameOrder(payment)}`,
    orderId: nameOrder(payment),
    total: toUnits(buyer, amount),
    data: { tax: toUnits(buyer, tax) },
    items: [{ ...item, ...subscription }],
  });
}
