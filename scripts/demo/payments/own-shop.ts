/** Events of a shop of the vendor's own, in the format of docs/integrations/payments/own-shop.md. */
import type { MoneyBack, Sale, Shop, ShopEvent, SubscriptionChange } from './sale.ts';
import { startOfPeriod, totalOf } from './sale.ts';

type Json = Readonly<Record<string, unknown>>;

function orderOf({ number }: Sale, count = 0): string {
  return `CD-2${String(number).padStart(5, '0')}${count === 0 ? '' : `-${count}`}`;
}

function event(sale: Sale, type: string, at: Date, key: string, data: Json): ShopEvent {
  const body = { type, timestamp: at.toISOString(), data };
  const headers = {
    'webhook-id': `msg_${sale.token.slice(0, 20)}${key}`,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
  };
  return { provider: 'standard', at, body, headers };
}

function writeCustomer({ buyer, number }: Sale): Json {
  return { id: `c-${40_000 + number}`, ...buyer };
}

function writeLines({ plan, quantity }: Sale): readonly Json[] {
  const cycle = plan.cycle === null ? {} : { cycle: { interval: plan.cycle, frequency: 1 } };
  return [{ id: 'line-1', price_id: plan.prices.standard, quantity, ...cycle }];
}

function writePeriod(sale: Sale, count: number): Json {
  if (sale.plan.cycle === null) return {};
  const starts = startOfPeriod(sale, count).toISOString();
  return { period: { starts_at: starts, ends_at: startOfPeriod(sale, count + 1).toISOString() } };
}

function writeSubscription(sale: Sale): Json {
  return sale.plan.cycle === null ? {} : { subscription_id: `sub-${orderOf(sale)}` };
}

function pay(sale: Sale, type: string, count: number): ShopEvent {
  return event(sale, type, startOfPeriod(sale, count), `p${count}`, {
    transaction_id: orderOf(sale, count),
    ...writeSubscription(sale),
    customer: writeCustomer(sale),
    ...writePeriod(sale, count),
    lines: writeLines(sale),
    total: totalOf(sale),
  });
}

function change(sale: Sale, { kind, at, period }: SubscriptionChange): readonly ShopEvent[] {
  const time = at.toISOString();
  const scheduled = {
    action: 'cancel',
    effective_at: startOfPeriod(sale, period + 1).toISOString(),
  };
  const data = {
    past_due: { status: 'past_due', ...writePeriod(sale, period) },
    paused: { status: 'paused', paused_at: time },
    canceled: { status: 'canceled', canceled_at: time },
    cancel_scheduled: {
      status: 'active',
      scheduled_change: scheduled,
      ...writePeriod(sale, period),
    },
  }[kind];
  const type = kind === 'canceled' ? 'subscription.canceled' : 'subscription.updated';
  const common = { transaction_id: orderOf(sale), ...writeSubscription(sale) };
  const rest = { customer: writeCustomer(sale), lines: writeLines(sale) };
  return [event(sale, type, at, `s${kind.slice(0, 4)}`, { ...common, ...rest, ...data })];
}

function moneyBack(sale: Sale, { kind, at }: MoneyBack): readonly ShopEvent[] {
  const transaction = { transaction_id: orderOf(sale) };
  if (kind === 'dispute') {
    const dispute = { dispute_id: `dp-${orderOf(sale)}`, total: totalOf(sale) };
    return [event(sale, 'payment.disputed', at, 'd', { ...dispute, ...transaction })];
  }
  const isFull = kind === 'refund';
  const total = isFull ? totalOf(sale) : Math.round(totalOf(sale) / 3);
  const refund = { refund_id: `rf-${orderOf(sale)}`, status: 'approved', full: isFull, total };
  return [event(sale, 'payment.refunded', at, 'r', { ...refund, ...transaction })];
}

export const ownShop: Shop = {
  listTransactionIds: (sale) => [orderOf(sale)],
  purchase: (sale) => [pay(sale, 'purchase.completed', 0)],
  renew: (sale, count) => [pay(sale, 'purchase.renewed', count)],
  change,
  moneyBack,
};
