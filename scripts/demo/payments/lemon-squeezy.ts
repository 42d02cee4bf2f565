/** Events of Lemon Squeezy: JSON:API objects, identified by the hash of their body. */
import { createHash } from 'node:crypto';

import type { MoneyBack, Sale, Shop, ShopEvent, SubscriptionChange } from './sale.ts';
import { startOfPeriod, totalOf, writeMicroseconds } from './sale.ts';

type Json = Readonly<Record<string, unknown>>;

function orderId({ number }: Sale): number {
  return 5_100_000 + number;
}

function subscriptionId({ number }: Sale): number {
  return 910_000 + number;
}

/** The identifier that the buyer's receipt shows, in the form of a UUID. */
function identifierOf({ token }: Sale): string {
  const hex = createHash('sha256').update(token).digest('hex');
  return [8, 4, 4, 4, 12]
    .map((length, index) => hex.slice(index * 12, index * 12 + length))
    .join('-');
}

function variantOf({ plan }: Sale): number {
  return Number(plan.prices.lemonsqueezy.replace('once:', ''));
}

function event(
  sale: Sale,
  name: string,
  object: { readonly type: string; readonly id: number },
  at: Date,
  attributes: Json,
): ShopEvent {
  const body = {
    meta: { event_name: name, test_mode: false, custom_data: {} },
    data: {
      type: object.type,
      id: String(object.id),
      attributes: {
        store_id: 20_817,
        customer_id: 3_300_000 + sale.number,
        user_name: sale.buyer.name,
        user_email: sale.buyer.email,
        ...attributes,
        updated_at: writeMicroseconds(at),
        test_mode: false,
      },
    },
  };
  return { provider: 'lemonsqueezy', at, body, headers: { 'x-event-name': name } };
}

function order(sale: Sale, name: string, at: Date, refunded: number): ShopEvent {
  const total = totalOf(sale);
  const status = refunded === 0 ? 'paid' : refunded >= total ? 'refunded' : 'partial_refund';
  const item = { id: orderId(sale) * 10, order_id: orderId(sale), product_id: 171_302 };
  return event(sale, name, { type: 'orders', id: orderId(sale) }, at, {
    identifier: identifierOf(sale),
    order_number: sale.number,
    currency: 'EUR',
    total,
    status,
    refunded: refunded >= total,
    refunded_amount: refunded,
    first_order_item: {
      ...item,
      variant_id: variantOf(sale),
      price_id: 8,
      quantity: sale.quantity,
      price: total,
    },
    created_at: writeMicroseconds(sale.at),
  });
}

function subscription(sale: Sale, name: string, at: Date, own: Json): ShopEvent {
  const object = { type: 'subscriptions', id: subscriptionId(sale) };
  return event(sale, name, object, at, {
    order_id: orderId(sale),
    order_item_id: orderId(sale) * 10,
    product_id: 171_302,
    variant_id: variantOf(sale),
    product_name: 'Contour',
    variant_name: sale.plan.name,
    status: 'active',
    cancelled: false,
    pause: null,
    trial_ends_at: null,
    renews_at: writeMicroseconds(startOfPeriod(sale, 1)),
    ends_at: null,
    first_subscription_item: { id: 6, price_id: 8, quantity: sale.quantity },
    created_at: writeMicroseconds(sale.at),
    ...own,
  });
}

function invoice(sale: Sale, name: string, count: number, at: Date, refunded = 0): ShopEvent {
  const object = { type: 'subscription-invoices', id: sale.number * 100 + count };
  return event(sale, name, object, at, {
    subscription_id: subscriptionId(sale),
    billing_reason: count === 0 ? 'initial' : 'renewal',
    currency: 'EUR',
    total: totalOf(sale),
    status: refunded === 0 ? 'paid' : 'refunded',
    refunded: refunded > 0,
    refunded_amount: refunded,
    created_at: writeMicroseconds(startOfPeriod(sale, count)),
  });
}

function change(sale: Sale, { kind, at, period }: SubscriptionChange): readonly ShopEvent[] {
  const paidUntil = startOfPeriod(sale, period + 1);
  const renews = { renews_at: writeMicroseconds(paidUntil) };
  switch (kind) {
    case 'past_due':
      return [subscription(sale, 'subscription_updated', at, { ...renews, status: 'past_due' })];
    case 'paused': {
      const pause = { mode: 'void', resumes_at: null };
      return [
        subscription(sale, 'subscription_paused', at, { ...renews, status: 'paused', pause }),
      ];
    }
    case 'canceled': {
      const ended = { status: 'expired', cancelled: true, ends_at: writeMicroseconds(at) };
      return [subscription(sale, 'subscription_expired', at, ended)];
    }
    case 'cancel_scheduled': {
      const ends = { ...renews, cancelled: true, ends_at: writeMicroseconds(paidUntil) };
      return [subscription(sale, 'subscription_cancelled', at, { status: 'cancelled', ...ends })];
    }
  }
}

function moneyBack(sale: Sale, { kind, at }: MoneyBack): readonly ShopEvent[] {
  const amount = kind === 'partial_refund' ? Math.round(totalOf(sale) / 3) : totalOf(sale);
  if (sale.plan.cycle === null) return [order(sale, 'order_refunded', at, amount)];
  return [invoice(sale, 'subscription_payment_refunded', 0, at, amount)];
}

export const lemonSqueezyShop: Shop = {
  listTransactionIds: (sale) => [identifierOf(sale), String(orderId(sale))],
  purchase: (sale) => [
    order(sale, 'order_created', sale.at, 0),
    ...(sale.plan.cycle === null
      ? []
      : [
          subscription(sale, 'subscription_created', sale.at, {}),
          invoice(sale, 'subscription_payment_success', 0, sale.at),
        ]),
  ],
  renew: (sale, count) => [
    invoice(sale, 'subscription_payment_success', count, startOfPeriod(sale, count)),
    subscription(sale, 'subscription_updated', startOfPeriod(sale, count), {
      renews_at: writeMicroseconds(startOfPeriod(sale, count + 1)),
    }),
  ],
  change,
  moneyBack,
};
