/** Events of Paddle Billing, with the fields that its notifications have. */
import type { MoneyBack, Sale, Shop, ShopEvent, SubscriptionChange } from './sale.ts';
import { startOfPeriod, totalOf, writeMicroseconds } from './sale.ts';

type Json = Readonly<Record<string, unknown>>;

function id(kind: string, sale: Sale, suffix = ''): string {
  return `${kind}_01${`${sale.token}${suffix}`.slice(-24).padStart(24, 'k')}`;
}

function event(sale: Sale, type: string, at: Date, key: string, data: Json): ShopEvent {
  const body = {
    event_id: id('evt', sale, key),
    event_type: type,
    occurred_at: writeMicroseconds(at),
    notification_id: id('ntf', sale, key),
    data,
  };
  return { provider: 'paddle', at, body, headers: {} };
}

function writeTotals(total: number): Json {
  const tax = Math.round(total / 6);
  return { subtotal: String(total - tax), discount: '0', tax: String(tax), total: String(total) };
}

function writePrice({ plan }: Sale): Json {
  return {
    id: plan.prices.paddle,
    product_id: `pro_01k2m7${plan.product}`.padEnd(30, '0'),
    description: plan.name,
    type: 'standard',
    billing_cycle: plan.cycle === null ? null : { interval: plan.cycle, frequency: 1 },
    trial_period: null,
    tax_mode: 'account_setting',
    unit_price: { amount: String(plan.amount), currency_code: 'EUR' },
    quantity: { minimum: 1, maximum: 100 },
    status: 'active',
  };
}

function writePeriod(sale: Sale, count: number): Json | null {
  if (sale.plan.cycle === null) return null;
  return {
    starts_at: writeMicroseconds(startOfPeriod(sale, count)),
    ends_at: writeMicroseconds(startOfPeriod(sale, count + 1)),
  };
}

function transaction(sale: Sale, count: number, at: Date): ShopEvent {
  const total = totalOf(sale);
  const totals = { ...writeTotals(total), grand_total: String(total), currency_code: 'EUR' };
  const suffix = count === 0 ? '' : `r${count}`;
  return event(sale, 'transaction.completed', at, `t${count}`, {
    id: id('txn', sale, suffix),
    status: 'completed',
    customer_id: id('ctm', sale),
    address_id: id('add', sale),
    custom_data: null,
    currency_code: 'EUR',
    origin: count === 0 ? 'web' : 'subscription_recurring',
    subscription_id: sale.plan.cycle === null ? null : id('sub', sale),
    invoice_number: `4411-${10_000 + sale.number}`,
    collection_mode: 'automatic',
    billing_period: writePeriod(sale, count),
    items: [{ price: writePrice(sale), quantity: sale.quantity, proration: null }],
    details: {
      totals,
      line_items: [
        {
          id: id('txnitm', sale, suffix),
          price_id: sale.plan.prices.paddle,
          quantity: sale.quantity,
          proration: null,
          tax_rate: '0.2',
          unit_totals: writeTotals(sale.plan.amount),
          totals: writeTotals(total),
        },
      ],
    },
    payments: [
      {
        payment_attempt_id: id('txn', sale, suffix),
        amount: String(total),
        status: 'captured',
        method_details: { type: 'card', card: { type: 'visa', last4: '4242' } },
        captured_at: writeMicroseconds(at),
      },
    ],
    created_at: writeMicroseconds(new Date(at.getTime() - 60_000)),
    updated_at: writeMicroseconds(at),
    billed_at: writeMicroseconds(at),
  });
}

function subscription(
  sale: Sale,
  type: string,
  key: string,
  { at, period, ...own }: { readonly at: Date; readonly period: number } & Json,
): ShopEvent {
  return event(sale, `subscription.${type}`, at, key, {
    id: id('sub', sale),
    status: 'active',
    transaction_id: id('txn', sale),
    customer_id: id('ctm', sale),
    address_id: id('add', sale),
    currency_code: 'EUR',
    created_at: writeMicroseconds(sale.at),
    updated_at: writeMicroseconds(at),
    started_at: writeMicroseconds(sale.at),
    first_billed_at: writeMicroseconds(sale.at),
    next_billed_at: null,
    paused_at: null,
    canceled_at: null,
    collection_mode: 'automatic',
    billing_cycle: { interval: sale.plan.cycle, frequency: 1 },
    current_billing_period: writePeriod(sale, period),
    scheduled_change: null,
    items: [
      { status: 'active', quantity: sale.quantity, recurring: true, price: writePrice(sale) },
    ],
    custom_data: null,
    ...own,
  });
}

function customer(sale: Sale): ShopEvent {
  const { buyer, at } = sale;
  return event(sale, 'customer.created', new Date(at.getTime() - 30_000), 'c', {
    id: id('ctm', sale),
    name: buyer.name,
    email: buyer.email,
    marketing_consent: false,
    status: 'active',
    locale: buyer.locale,
    custom_data: null,
    created_at: writeMicroseconds(at),
    updated_at: writeMicroseconds(at),
  });
}

function change(sale: Sale, { kind, at, period }: SubscriptionChange): readonly ShopEvent[] {
  const time = writeMicroseconds(at);
  const when = { at, period };
  const off = { current_billing_period: null, next_billed_at: null };
  switch (kind) {
    case 'past_due':
      return [subscription(sale, 'past_due', 'd', { ...when, status: 'past_due' })];
    case 'paused':
      return [
        subscription(sale, 'paused', 'p', { ...when, ...off, status: 'paused', paused_at: time }),
      ];
    case 'canceled':
      return [
        subscription(sale, 'canceled', 'x', {
          ...when,
          ...off,
          status: 'canceled',
          canceled_at: time,
        }),
      ];
    case 'cancel_scheduled': {
      const effective = writeMicroseconds(startOfPeriod(sale, period + 1));
      const scheduled = { action: 'cancel', effective_at: effective, resume_at: null };
      return [subscription(sale, 'updated', 's', { ...when, scheduled_change: scheduled })];
    }
  }
}

function moneyBack(sale: Sale, { kind, at }: MoneyBack): readonly ShopEvent[] {
  const type = kind === 'partial_refund' ? 'partial' : 'full';
  const total = kind === 'partial_refund' ? Math.round(totalOf(sale) / 3) : totalOf(sale);
  return [
    event(sale, 'adjustment.created', at, 'a', {
      id: id('adj', sale),
      action: kind === 'dispute' ? 'chargeback' : 'refund',
      type,
      transaction_id: id('txn', sale),
      subscription_id: sale.plan.cycle === null ? null : id('sub', sale),
      customer_id: id('ctm', sale),
      reason: kind === 'dispute' ? 'fraud' : 'requested_by_customer',
      currency_code: 'EUR',
      status: 'approved',
      items: [
        {
          id: id('adjitm', sale),
          item_id: id('txnitm', sale),
          type,
          amount: String(total),
          totals: writeTotals(total),
        },
      ],
      totals: { ...writeTotals(total), currency_code: 'EUR' },
      created_at: writeMicroseconds(at),
      updated_at: '0001-01-01T00:00:00Z',
    }),
  ];
}

export const paddleShop: Shop = {
  listTransactionIds: (sale) => [id('txn', sale)],
  purchase: (sale) => [
    customer(sale),
    ...(sale.plan.cycle === null
      ? []
      : [subscription(sale, 'created', 'n', { at: sale.at, period: 0 })]),
    transaction(sale, 0, sale.at),
  ],
  renew: (sale, count) => [transaction(sale, count, startOfPeriod(sale, count))],
  change,
  moneyBack,
};
