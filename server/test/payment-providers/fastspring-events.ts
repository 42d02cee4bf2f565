/**
 * Webhooks of FastSpring for tests: one builder for each kind of object, with the fields that the service reads, and the
 * signature. `isExpanded: false` writes ids in place of accounts, products and subscriptions, as the setting of a webhook does.
 * `data` overrides any field of the object.
 */
import { createHmac } from 'node:crypto';

import { DAY_MS, TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. */
export interface FastSpringTestEvent {
  readonly id: string;
  readonly type: string;
  readonly live: boolean;
  readonly processed: boolean;
  readonly created: number;
  readonly data: Readonly<Record<string, unknown>>;
}

type Fields = Readonly<Record<string, unknown>>;

/** Options of all events. */
export interface FastSpringOptions {
  readonly eventId?: string;
  /** The time of the event and of the change. Default: the start of the tests. */
  readonly at?: Date;
  readonly isExpanded?: boolean;
  readonly isLive?: boolean;
  readonly email?: string;
  readonly data?: Fields;
}

export interface FastSpringSubscriptionOptions extends FastSpringOptions {
  readonly subscriptionId?: string;
  readonly product?: string;
  readonly quantity?: number;
  readonly state?: string;
  /** The date of the next charge. Default: a month after the start. */
  readonly next?: Date | null;
  readonly lastDay?: Date;
  readonly end?: Date;
}

/** An item of an order; one with `subscription` starts it. */
export interface FastSpringItem {
  readonly product?: string;
  readonly quantity?: number;
  readonly subtotal?: number;
  readonly subscription?: FastSpringSubscriptionOptions;
}

export interface FastSpringOrderOptions extends FastSpringOptions {
  readonly orderId?: string;
  readonly currency?: string;
  readonly total?: number;
  readonly items?: readonly FastSpringItem[];
}

export interface FastSpringChargeOptions extends FastSpringSubscriptionOptions {
  readonly orderId?: string;
  readonly total?: number;
}

export interface FastSpringReturnOptions extends FastSpringOptions {
  readonly returnId?: string;
  readonly orderId?: string;
  readonly currency?: string;
  readonly total?: number;
  readonly items?: readonly {
    readonly product: string;
    readonly subtotal: number;
    readonly subscriptionId?: string;
  }[];
}

let created = 0;

function createEvent(type: string, options: FastSpringOptions, data: Fields): FastSpringTestEvent {
  const { at = TEST_START, eventId = `fsev_${(created += 1)}`, isLive = true } = options;
  return {
    id: eventId,
    type,
    live: isLive,
    processed: false,
    created: at.getTime(),
    data: { live: isLive, changed: at.getTime(), ...data, ...options.data },
  };
}

/** `order.completed`. */
export function fastSpringOrder(options: FastSpringOrderOptions = {}): FastSpringTestEvent {
  return createEvent('order.completed', options, writeOrder(options));
}

function writeOrder(options: FastSpringOrderOptions): Fields {
  const { orderId = 'fsord_1', currency = 'EUR', at = TEST_START } = options;
  const items = options.items ?? [{}];
  const { total = items.reduce((sum, { subtotal = 19.99 }) => sum + subtotal, 0) } = options;
  return {
    order: orderId,
    id: orderId,
    reference: 'EXA270301-1234-56789',
    completed: true,
    changed: at.getTime(),
    language: 'de',
    currency,
    account: writeAccount(options),
    total,
    tax: 0,
    subtotal: total,
    customer: writeContact(options),
    items: items.map(({ product, quantity = 1, subtotal = 19.99, subscription }) => ({
      product: subscription?.product ?? product ?? (subscription ? 'monthly' : 'personal'),
      quantity: subscription?.quantity ?? quantity,
      sku: null,
      subtotal,
      ...(subscription === undefined
        ? {}
        : { subscription: writeSubscriptionOf({ at, ...options, ...subscription, data: {} }) }),
      fulfillments: {},
    })),
  };
}

/** `subscription.activated`, `.updated`, `.canceled` and other events whose data are a subscription. */
export function fastSpringSubscription(
  type: string,
  options: FastSpringSubscriptionOptions = {},
): FastSpringTestEvent {
  return createEvent(`subscription.${type}`, options, writeSubscription(options));
}

function writeSubscriptionOf(options: FastSpringSubscriptionOptions): unknown {
  const subscription = writeSubscription(options);
  return options.isExpanded === false ? subscription['id'] : subscription;
}

function writeSubscription(options: FastSpringSubscriptionOptions): Fields {
  const { subscriptionId = 'fssub_1', product = 'monthly', state = 'active' } = options;
  const { at = TEST_START, isExpanded = true } = options;
  return {
    id: subscriptionId,
    subscription: subscriptionId,
    active: state !== 'deactivated',
    state,
    changed: at.getTime(),
    live: true,
    currency: 'EUR',
    account: writeAccount(options),
    product: isExpanded ? { product, parent: null, display: { en: product } } : product,
    quantity: options.quantity ?? 1,
    autoRenew: true,
    price: 9.99,
    subtotal: 9.99,
    ...writeDates(options),
    sequence: 1,
    intervalUnit: 'month',
    intervalLength: 1,
  };
}

function writeDates({ lastDay, end, ...options }: FastSpringSubscriptionOptions): Fields {
  const next = options.next === undefined ? startOfDay(later(31)) : options.next;
  return {
    begin: startOfDay(TEST_START).getTime(),
    next: next?.getTime() ?? null,
    end: end?.getTime() ?? null,
    deactivationDate: lastDay?.getTime() ?? null,
  };
}

/** `subscription.charge.completed`: a renewal. */
export function fastSpringCharge(options: FastSpringChargeOptions = {}): FastSpringTestEvent {
  const { orderId = 'fsord_2', at = TEST_START, isExpanded = true, total = 9.99 } = options;
  const item = { subtotal: total, subscription: { ...options, isExpanded: false } };
  const order = { ...options, orderId, data: {}, items: [item] };
  return createEvent('subscription.charge.completed', options, {
    order: isExpanded ? writeOrder(order) : orderId,
    currency: 'EUR',
    total,
    status: 'successful',
    timestamp: at.getTime(),
    sequence: 2,
    account: writeAccount(options),
    subscription: writeSubscriptionOf(options),
  });
}

/** `return.created`. */
export function fastSpringReturn(options: FastSpringReturnOptions = {}): FastSpringTestEvent {
  const { returnId = 'fsret_1', orderId = 'fsord_1', currency = 'EUR', total = 19.99 } = options;
  const items = options.items ?? [{ product: 'personal', subtotal: total }];
  return createEvent('return.created', options, {
    return: returnId,
    reference: 'EXA270310-1234-56789X',
    completed: true,
    currency,
    totalReturn: total,
    account: writeAccount(options),
    original: options.isExpanded === false ? orderId : { order: orderId, id: orderId, currency },
    items: items.map(({ product, subtotal, subscriptionId }) => ({
      product,
      quantity: 1,
      subtotal,
      ...(subscriptionId === undefined ? {} : { subscription: subscriptionId }),
    })),
  });
}

/** `account.created` or `account.updated`. */
export function fastSpringAccount(
  type: 'created' | 'updated',
  options: FastSpringOptions = {},
): FastSpringTestEvent {
  const account = writeAccount({ ...options, isExpanded: true });
  return createEvent(`account.${type}`, options, { ...Object(account) });
}

function writeAccount(options: FastSpringOptions): unknown {
  const id = 'fsacc_ann';
  if (options.isExpanded === false) return id;
  return { id, account: id, contact: writeContact(options), language: 'de', country: 'DE' };
}

function writeContact({ email = 'ann@example.com' }: FastSpringOptions): Fields {
  return { first: 'Ann', last: 'Example', email, company: null, phone: null };
}

/** The headers and the signed body of a request with events. */
export function fastSpringDelivery(
  events: readonly unknown[],
  { secret }: { readonly secret: string },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify({ events });
  const signature = createHmac('sha256', secret).update(body).digest('base64');
  return { headers: { 'content-type': 'application/json', 'x-fs-signature': signature }, body };
}

/** FastSpring writes dates as the start of the day in UTC. */
export function startOfDay(time: Date): Date {
  return new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS);
}

function later(days: number): Date {
  return new Date(TEST_START.getTime() + days * DAY_MS);
}
