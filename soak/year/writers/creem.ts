import {
  creemCheckout,
  creemDispute,
  creemRefund,
  creemSubscription,
  type CreemTestEvent,
} from '../../../server/test/payment-providers/creem-events.ts';
import {
  toDate,
  type AnyHappening,
  type Buyer,
  type Paid,
  type Plan,
  type Returned,
  type State,
} from '../happenings.ts';
import { taxOf, toPrice } from '../money.ts';
import { nameOf, numberCustomer, type Writer } from './delivery.ts';

/** Returns the id of a plan's product, which the catalogue has as a price. */
export const nameProduct = (plan: Plan): string => nameOf.price(plan).replace('pri_', 'prod_');
const nameSubscription = ({ number }: Buyer): string => `sub_${number}`;
const nameCheckout = ({ buyer, number }: Paid): string => `ch_${buyer.number}_${number}`;
const nameOrder = ({ buyer, number }: Paid): string => `ord_${buyer.number}_${number}`;
const nameTransaction = ({ buyer, number }: Paid): string => `tran_${buyer.number}_${number}`;

/** Writes events of Creem, which reports neither payments of nothing nor the end of a dispute. */
export const writeCreem: Writer = (happening) => {
  switch (happening.kind) {
    case 'paid':
      return writePayment(happening);
    case 'state':
      return [toEvent(happening, writeState(happening))];
    case 'refunded':
      return [toEvent(happening, writeRefund(happening))];
    case 'disputed':
      return [toEvent(happening, writeDispute(happening))];
    case 'won':
      return [];
  }
};

function toEvent(happening: AnyHappening, event: CreemTestEvent, isPayment = true) {
  const { buyer, day } = happening;
  const eventId = `evt_creem_${buyer.number}_${event.eventType}_${day.toFixed(4)}`;
  const payment = happening.kind === 'paid' && isPayment ? happening : null;
  return { eventId, day, body: JSON.stringify({ ...event, id: eventId }), payment };
}

/** Prices are written without tax. */
function writeProduct({ market }: Buyer, { cycle, amount: cents }: Plan, id: string) {
  const period = cycle === null ? 'once' : `every-${cycle}`;
  const price = toPrice(market, cents) - taxOf(market, toPrice(market, cents));
  return {
    id,
    name: 'A Product',
    price,
    currency: market.currency,
    billing_period: period,
  };
}

function writeCustomer(buyer: Buyer) {
  const { email, market } = buyer;
  const { country } = market;
  return {
    id: `cust_${numberCustomer(buyer)}`,
    object: 'customer',
    email,
    name: 'A Buyer',
    country,
  };
}

function writePayment(paid: Paid) {
  const { plan, origin, amount } = paid;
  if (plan.cycle === null) return [toEvent(paid, writeCheckout(paid))];
  const checkout = origin === 'purchase' ? [toEvent(paid, writeCheckout(paid), false)] : [];
  if (amount === 0) return checkout;
  return [...checkout, toEvent(paid, writePaidPeriod(paid))];
}

function writeCheckout(paid: Paid): CreemTestEvent {
  const { buyer, plan, amount, tax, day, quantity = 1 } = paid;
  const isRecurring = plan.cycle !== null;
  const customer = writeCustomer(buyer);
  const product = nameProduct(plan);
  const order = {
    id: nameOrder(paid),
    customer: customer.id,
    product,
    amount: amount - tax,
    tax_amount: tax,
    amount_paid: amount,
    currency: buyer.market.currency,
    status: 'paid',
  };
  const subscription = {
    id: nameSubscription(buyer),
    product,
    customer: customer.id,
    status: amount === 0 ? 'trialing' : 'active',
  };
  return creemCheckout({
    at: toDate(day),
    isRecurring,
    object: {
      id: nameCheckout(paid),
      units: quantity,
      metadata: paid.custom ?? {},
      order,
      product: writeProduct(buyer, plan, product),
      customer,
      ...(isRecurring ? { subscription } : {}),
    },
  });
}

function writeTransaction(paid: Paid, refunded = 0) {
  return {
    id: nameTransaction(paid),
    object: 'transaction',
    amount: paid.amount - paid.tax,
    amount_paid: paid.amount,
    tax_amount: paid.tax,
    tax_country: paid.buyer.market.country,
    currency: paid.buyer.market.currency,
    refunded_amount: refunded,
    order: nameOrder(paid),
    subscription: paid.plan.cycle === null ? null : nameSubscription(paid.buyer),
  };
}

function writePaidPeriod(paid: Paid): CreemTestEvent {
  const { from, until } = paid;
  const last = {
    last_transaction_id: nameTransaction(paid),
    last_transaction: writeTransaction(paid),
  };
  return writeSubscription(
    paid,
    'subscription.paid',
    'active',
    { from, until: until ?? from },
    last,
  );
}

function writeState(state: State): CreemTestEvent {
  const { status, day } = state;
  const name = status === 'active' ? 'update' : status;
  const end = status === 'canceled' ? toDate(day).toISOString() : null;
  return writeSubscription(state, `subscription.${name}`, status, state, { canceled_at: end });
}

function writeSubscription(
  happening: Paid | State,
  type: string,
  status: string,
  { from, until }: { readonly from: number; readonly until: number },
  object: object,
): CreemTestEvent {
  const { buyer, plan, day, quantity = 1 } = happening;
  const productId = nameProduct(plan);
  return creemSubscription(type, {
    at: toDate(day),
    status,
    startsAt: toDate(from),
    endsAt: toDate(until),
    productId,
    units: quantity,
    object: {
      id: nameSubscription(buyer),
      product: writeProduct(buyer, plan, productId),
      customer: writeCustomer(buyer),
      metadata: happening.custom ?? {},
      ...object,
    },
  });
}

/** Orders, transactions and customers of money that goes back. */
function writeOrigin({ payment, amount }: Returned) {
  const isRecurring = payment.plan.cycle !== null;
  return {
    transaction: writeTransaction(payment, amount),
    order: { id: nameOrder(payment), status: 'paid' },
    checkout: { id: nameCheckout(payment) },
    customer: writeCustomer(payment.buyer),
    ...(isRecurring ? { subscription: { id: nameSubscription(payment.buyer) } } : {}),
  };
}

function writeRefund(returned: Returned): CreemTestEvent {
  const { payment, amount, day, buyer } = returned;
  const id = `ref_${nameTransaction(payment)}`;
  const object = { ...writeOrigin(returned), id, refund_currency: buyer.market.currency };
  return creemRefund({ at: toDate(day), amount, object });
}

function writeDispute(returned: Returned): CreemTestEvent {
  const { payment, amount, day, buyer } = returned;
  const { currency } = buyer.market;
  const id = `disp_${nameTransaction(payment)}`;
  const object = { ...writeOrigin(returned), id, amount, currency };
  return creemDispute({ at: toDate(day), object });
}
