/** Events of Stripe, in the form since API version 2025-03-31. */
import type { MoneyBack, Sale, Shop, ShopEvent, SubscriptionChange } from './sale.ts';
import { startOfPeriod, totalOf } from './sale.ts';

type Json = Readonly<Record<string, unknown>>;

function toSeconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

function id(kind: string, sale: Sale, suffix = ''): string {
  return `${kind}_1Q${sale.token.slice(0, 20)}${suffix}`;
}

function event(sale: Sale, type: string, at: Date, key: string, object: Json): ShopEvent {
  const body = {
    id: id('evt', sale, key),
    object: 'event',
    api_version: '2025-09-30.clover',
    type,
    created: toSeconds(at),
    livemode: true,
    data: { object },
  };
  return { provider: 'stripe', at, body, headers: {} };
}

function checkout(sale: Sale): ShopEvent {
  const { at, buyer, plan, quantity } = sale;
  const isOnce = plan.cycle === null;
  const metadata = isOnce ? { price_id: plan.prices.stripe, quantity: String(quantity) } : {};
  return event(sale, 'checkout.session.completed', at, 'c', {
    id: id('cs_live', sale),
    object: 'checkout.session',
    mode: isOnce ? 'payment' : 'subscription',
    status: 'complete',
    payment_status: 'paid',
    payment_intent: isOnce ? id('pi', sale) : null,
    subscription: isOnce ? null : id('sub', sale),
    invoice: isOnce ? null : id('in', sale),
    customer: id('cus', sale),
    customer_details: { email: buyer.email, name: buyer.name, phone: null },
    locale: buyer.locale.slice(0, 2),
    amount_total: totalOf(sale),
    currency: 'eur',
    metadata,
    created: toSeconds(at) - 140,
    livemode: true,
  });
}

function invoice(sale: Sale, count: number): ShopEvent {
  const at = startOfPeriod(sale, count);
  const total = totalOf(sale);
  const suffix = count === 0 ? '' : `r${count}`;
  return event(sale, 'invoice.paid', at, `i${count}`, {
    id: id('in', sale, suffix),
    object: 'invoice',
    status: 'paid',
    billing_reason: count === 0 ? 'subscription_create' : 'subscription_cycle',
    customer: id('cus', sale),
    customer_email: sale.buyer.email,
    customer_name: sale.buyer.name,
    amount_due: total,
    amount_paid: total,
    total,
    currency: 'eur',
    status_transitions: { finalized_at: toSeconds(at), paid_at: toSeconds(at) },
    parent: {
      type: 'subscription_details',
      subscription_details: { subscription: id('sub', sale), metadata: {} },
    },
    lines: { object: 'list', data: [writeLine(sale, count, suffix)] },
  });
}

function writeLine(sale: Sale, count: number, suffix: string): Json {
  return {
    id: id('il', sale, suffix),
    object: 'line_item',
    amount: totalOf(sale),
    quantity: sale.quantity,
    period: {
      start: toSeconds(startOfPeriod(sale, count)),
      end: toSeconds(startOfPeriod(sale, count + 1)),
    },
    parent: {
      type: 'subscription_item_details',
      subscription_item_details: { subscription_item: id('si', sale), proration: false },
    },
    pricing: {
      type: 'price_details',
      price_details: { price: sale.plan.prices.stripe, product: `prod_${sale.plan.product}` },
      unit_amount_decimal: String(sale.plan.amount),
    },
  };
}

function payment(sale: Sale): ShopEvent {
  return event(sale, 'invoice_payment.paid', sale.at, 'p', {
    id: id('inpay', sale),
    object: 'invoice_payment',
    invoice: id('in', sale),
    payment: { type: 'payment_intent', payment_intent: id('pi', sale) },
    amount_paid: totalOf(sale),
    status: 'paid',
    created: toSeconds(sale.at),
  });
}

function subscription(
  sale: Sale,
  type: string,
  key: string,
  { at, period, ...own }: { readonly at: Date; readonly period: number } & Json,
): ShopEvent {
  const span = {
    current_period_start: toSeconds(startOfPeriod(sale, period)),
    current_period_end: toSeconds(startOfPeriod(sale, period + 1)),
  };
  const recurring = { interval: sale.plan.cycle, interval_count: 1 };
  const price = { id: sale.plan.prices.stripe, object: 'price', type: 'recurring', recurring };
  const item = { id: id('si', sale), object: 'subscription_item', price, quantity: sale.quantity };
  return event(sale, `customer.subscription.${type}`, at, key, {
    id: id('sub', sale),
    object: 'subscription',
    status: 'active',
    customer: id('cus', sale),
    latest_invoice: id('in', sale),
    collection_method: 'charge_automatically',
    cancel_at_period_end: false,
    cancel_at: null,
    canceled_at: null,
    ended_at: null,
    pause_collection: null,
    items: { object: 'list', data: [{ ...item, ...span }] },
    ...own,
  });
}

function change(sale: Sale, { kind, at, period }: SubscriptionChange): readonly ShopEvent[] {
  const now = toSeconds(at);
  const when = { at, period };
  switch (kind) {
    case 'past_due':
      return [subscription(sale, 'updated', 'd', { ...when, status: 'past_due' })];
    case 'paused':
      return [subscription(sale, 'paused', 'h', { ...when, status: 'paused' })];
    case 'canceled': {
      const ended = { ...when, status: 'canceled', canceled_at: now, ended_at: now };
      return [subscription(sale, 'deleted', 'x', ended)];
    }
    case 'cancel_scheduled': {
      const end = toSeconds(startOfPeriod(sale, period + 1));
      const until = { ...when, cancel_at_period_end: true, cancel_at: end };
      return [subscription(sale, 'updated', 's', { ...until, canceled_at: now })];
    }
  }
}

function moneyBack(sale: Sale, { kind, at }: MoneyBack): readonly ShopEvent[] {
  const common = { charge: id('ch', sale), payment_intent: id('pi', sale) };
  if (kind === 'dispute') {
    const dispute = { id: id('du', sale), object: 'dispute', status: 'needs_response' };
    const reason = { reason: 'fraudulent', amount: totalOf(sale) };
    return [event(sale, 'charge.dispute.created', at, 'u', { ...dispute, ...reason, ...common })];
  }
  const amount = kind === 'refund' ? totalOf(sale) : Math.round(totalOf(sale) / 3);
  const refund = { id: id('re', sale), object: 'refund', amount, status: 'succeeded' };
  return [event(sale, 'refund.created', at, 'e', { ...refund, ...common })];
}

export const stripeShop: Shop = {
  listTransactionIds: (sale) => [id('cs_live', sale), id('pi', sale), id('in', sale)],
  purchase: (sale) =>
    sale.plan.cycle === null
      ? [checkout(sale)]
      : [
          subscription(sale, 'created', 'n', { at: sale.at, period: 0 }),
          invoice(sale, 0),
          payment(sale),
          checkout(sale),
        ],
  renew: (sale, count) => [invoice(sale, count)],
  change,
  moneyBack,
};
