/**
 * Webhooks of Paddle Billing for tests: one builder for each kind of event, with the fields that the real ones have, and
 * the signature. Every builder has a default for everything, so that a test names only what it is about:
 *
 * ```ts
 * const purchase = paddleTransactionCompleted({ transactionId: paddleId('txn', 'ann'), lines: [{ priceId }] });
 * const delivery = paddleDelivery(purchase, { secret, at: clock.now() });
 * ```
 *
 * What the options do not reach, `data` does: its fields are laid over the event's.
 */
import { createHmac } from 'node:crypto';

import {
  lineTotal,
  paddleId,
  sum,
  UNIT_AMOUNT,
  writePayment,
  writePeriod,
  writePrice,
  writeProduct,
  writeTime,
  writeTotals,
  writeTransactionTotals,
  writeType,
  type PaddleCycle,
  type PaddleLine,
  type PaddlePeriod,
} from './paddle-event-parts.ts';
import { DAY_MS, TEST_START } from './test-clock.ts';

export { paddleId };
export type { PaddleCycle, PaddleLine, PaddlePeriod };

/** An event as Paddle writes it, before it becomes JSON. */
export interface PaddleEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  readonly notification_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What is said of any event. */
export interface PaddleEventOptions {
  /** Left out: a new one each time. */
  readonly eventId?: string;
  /** Left out: the tests' start. */
  readonly occurredAt?: Date;
  /** Laid over the event's data, field by field; `undefined` removes a field. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What `transaction.*` tells, without its first part. */
export type PaddleTransactionType =
  | 'billed'
  | 'canceled'
  | 'completed'
  | 'created'
  | 'paid'
  | 'past_due'
  | 'payment_failed'
  | 'ready'
  | 'revised'
  | 'updated';

export interface PaddleTransactionOptions extends PaddleEventOptions {
  readonly transactionId?: string;
  readonly subscriptionId?: string | null;
  readonly customerId?: string | null;
  /** `web` or `api` for purchases, `subscription_recurring` for renewals, …; left out: `web`. */
  readonly origin?: string;
  readonly period?: PaddlePeriod | null;
  readonly lines?: readonly PaddleLine[];
  readonly customData?: Readonly<Record<string, unknown>> | null;
}

/** What `subscription.*` tells, without its first part. */
export type PaddleSubscriptionType =
  | 'activated'
  | 'canceled'
  | 'created'
  | 'imported'
  | 'past_due'
  | 'paused'
  | 'resumed'
  | 'trialing'
  | 'updated';

export interface PaddleSubscriptionOptions extends PaddleEventOptions {
  readonly subscriptionId?: string;
  /** The checkout that began it; null for a subscription that was not bought through one. */
  readonly transactionId?: string | null;
  readonly customerId?: string;
  /** Left out: what the type says; `active` for created, updated and imported. */
  readonly status?: string;
  /** Left out: a month from `occurredAt`; null while paused and once canceled, as Paddle has it. */
  readonly period?: PaddlePeriod | null;
  /** Left out: `occurredAt` of a paused one, else null. */
  readonly pausedAt?: Date | null;
  /** Left out: `occurredAt` of a canceled one, else null. */
  readonly canceledAt?: Date | null;
  readonly scheduledChange?: { readonly action: string; readonly effectiveAt: Date } | null;
  readonly lines?: readonly PaddleLine[];
  readonly customData?: Readonly<Record<string, unknown>> | null;
}

export interface PaddleAdjustmentOptions extends PaddleEventOptions {
  readonly adjustmentId?: string;
  readonly transactionId?: string;
  readonly subscriptionId?: string | null;
  readonly customerId?: string;
  /** Left out: `refund`. */
  readonly action?: string;
  /** Left out: `approved`. */
  readonly status?: string;
  /** `full` or `partial`; left out: `full`; null: the field is not there, as in older events. */
  readonly type?: 'full' | 'partial' | null;
  /** In cents, tax included; left out: the sum of the lines. */
  readonly total?: number;
  /** Left out: the first line of the transaction, as a whole. */
  readonly lines?: readonly PaddleAdjustedLine[];
}

export interface PaddleAdjustedLine {
  /** `txnitm_…`; see `paddleLineId`. */
  readonly lineId: string;
  /** `full`, `partial`, `tax` or `proration`; left out: `full`; null: the field is not there. */
  readonly type?: string | null;
  /** In cents, tax included; left out: 2900. */
  readonly total?: number;
}

export interface PaddleCustomerOptions extends PaddleEventOptions {
  readonly customerId?: string;
  /** Left out: an address at example.com made of the id. */
  readonly email?: string;
  readonly name?: string | null;
  /** Left out: `en`. */
  readonly locale?: string;
}

/** The ids that the builders take when they are told none: one buyer, one checkout, one subscription. */
export const PADDLE_IDS = {
  adjustment: paddleId('adj', 'default'),
  customer: paddleId('ctm', 'default'),
  price: paddleId('pri', 'default'),
  subscription: paddleId('sub', 'default'),
  transaction: paddleId('txn', 'default'),
} as const;

/** What a subscription's lines are paid by, unless told otherwise. */
export const PADDLE_MONTH: PaddleCycle = { interval: 'month', frequency: 1 };

/** The id that a transaction's line has when none is given. */
export function paddleLineId(transactionId: string, ordinal = 0): string {
  return paddleId('txnitm', `${transactionId}:${ordinal}`);
}

/** A span that begins at a moment and has so many days. */
export function paddlePeriod(startsAt: Date, days = 31): PaddlePeriod {
  return { startsAt, endsAt: new Date(startsAt.getTime() + days * DAY_MS) };
}

/**
 * The value of `Billing-Signature` (as of `Paddle-Signature`) for a body.
 * @param body exactly what is sent
 * @param at the signed time, cut to seconds
 */
export function signPaddle(body: string | Uint8Array, secret: string, at: Date): string {
  const ts = String(Math.floor(at.getTime() / 1000));
  const h1 = createHmac('sha256', secret).update(`${ts}:`).update(body).digest('hex');
  return `ts=${ts};h1=${h1}`;
}

/** What is sent for an event: the body and its headers, well signed. */
export function paddleDelivery(
  event: unknown,
  { secret, at }: { readonly secret: string; readonly at: Date },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'billing-signature': signPaddle(body, secret, at),
    },
  };
}

/** An event of any type, with exactly this data. */
export function paddleEvent(
  type: string,
  data: Readonly<Record<string, unknown>>,
  options: PaddleEventOptions = {},
): PaddleEvent {
  const eventId = options.eventId ?? paddleId('evt');
  return {
    event_id: eventId,
    event_type: type,
    occurred_at: writeTime(options.occurredAt ?? TEST_START),
    notification_id: paddleId('ntf', eventId),
    data: { ...data, ...options.data },
  };
}

/** A purchase, a renewal or another payment that has come in: the event that licenses are made of. */
export function paddleTransactionCompleted(options: PaddleTransactionOptions = {}): PaddleEvent {
  return paddleTransaction('completed', options);
}

/** Any `transaction.*`; its lines are one that is paid once, unless others are given. */
export function paddleTransaction(
  type: PaddleTransactionType,
  options: PaddleTransactionOptions = {},
): PaddleEvent {
  const occurredAt = options.occurredAt ?? TEST_START;
  const id = options.transactionId ?? PADDLE_IDS.transaction;
  const lines = options.lines ?? [{ priceId: PADDLE_IDS.price }];
  const total = sum(lines.map(lineTotal));
  const isOver = type === 'completed' || type === 'paid';
  const data = {
    id,
    status: TRANSACTION_STATUSES[type],
    customer_id: options.customerId === undefined ? PADDLE_IDS.customer : options.customerId,
    address_id: paddleId('add', 'default'),
    business_id: null,
    custom_data: options.customData ?? null,
    currency_code: 'USD',
    origin: options.origin ?? 'web',
    subscription_id: options.subscriptionId ?? null,
    invoice_id: null,
    invoice_number: isOver ? '325-10566' : null,
    collection_mode: 'automatic',
    discount_id: null,
    billing_details: null,
    billing_period: writePeriod(options.period ?? null),
    items: lines.map((line) => ({
      price: writePrice(line),
      quantity: line.quantity ?? 1,
      proration: null,
    })),
    details: {
      tax_rates_used: [{ tax_rate: '0.2', totals: writeTotals(total) }],
      totals: writeTransactionTotals(total),
      adjusted_totals: writeTransactionTotals(total),
      payout_totals: null,
      adjusted_payout_totals: null,
      line_items: lines.map((line, ordinal) => ({
        id: line.lineId ?? paddleLineId(id, ordinal),
        price_id: line.priceId,
        quantity: line.quantity ?? 1,
        proration: null,
        tax_rate: '0.2',
        unit_totals: writeTotals(line.unitAmount ?? UNIT_AMOUNT),
        totals: writeTotals(lineTotal(line)),
        product: writeProduct(line.priceId),
      })),
    },
    payments: isOver ? [writePayment(id, total, occurredAt)] : [],
    checkout: { url: `https://shop.example.com/pay?_ptxn=${id}` },
    created_at: writeTime(new Date(occurredAt.getTime() - 60_000)),
    updated_at: writeTime(occurredAt),
    billed_at: isOver ? writeTime(occurredAt) : null,
    revised_at: type === 'revised' ? writeTime(occurredAt) : null,
  };
  return paddleEvent(`transaction.${type}`, data, options);
}

/** Any `subscription.*`; its lines are one that is paid by the month, unless others are given. */
export function paddleSubscription(
  type: PaddleSubscriptionType,
  options: PaddleSubscriptionOptions = {},
): PaddleEvent {
  const status = options.status ?? SUBSCRIPTION_STATUSES[type];
  const lines = options.lines ?? [{ priceId: PADDLE_IDS.price, cycle: PADDLE_MONTH }];
  const { subscriptionId, transactionId, customerId } = options;
  const data = {
    id: subscriptionId ?? PADDLE_IDS.subscription,
    status,
    transaction_id: transactionId === undefined ? PADDLE_IDS.transaction : transactionId,
    customer_id: customerId ?? PADDLE_IDS.customer,
    address_id: paddleId('add', 'default'),
    business_id: null,
    currency_code: 'USD',
    ...writeSubscriptionTimes(status, options),
    discount: null,
    collection_mode: 'automatic',
    billing_details: null,
    billing_cycle: lines[0]?.cycle ?? PADDLE_MONTH,
    scheduled_change: writeScheduledChange(options.scheduledChange ?? null),
    items: lines.map((line) => writeSubscriptionItem(line, status)),
    custom_data: options.customData ?? null,
    import_meta: null,
  };
  return paddleEvent(`subscription.${type}`, data, options);
}

/** A refund, a chargeback or another adjustment: approved and of everything, unless told otherwise. */
export function paddleAdjustment(
  type: 'created' | 'updated',
  options: PaddleAdjustmentOptions = {},
): PaddleEvent {
  const occurredAt = options.occurredAt ?? TEST_START;
  const id = options.adjustmentId ?? PADDLE_IDS.adjustment;
  const transactionId = options.transactionId ?? PADDLE_IDS.transaction;
  const lines = options.lines ?? [{ lineId: paddleLineId(transactionId) }];
  const total = options.total ?? sum(lines.map((line) => line.total ?? UNIT_AMOUNT));
  const data = {
    id,
    action: options.action ?? 'refund',
    ...writeType(options.type),
    transaction_id: transactionId,
    subscription_id: options.subscriptionId ?? null,
    customer_id: options.customerId ?? PADDLE_IDS.customer,
    reason: 'requested_by_customer',
    credit_applied_to_balance: null,
    currency_code: 'USD',
    status: options.status ?? 'approved',
    items: lines.map((line, ordinal) => ({
      id: paddleId('adjitm', `${id}:${ordinal}`),
      item_id: line.lineId,
      ...writeType(line.type),
      amount: String(line.total ?? UNIT_AMOUNT),
      proration: null,
      totals: writeTotals(line.total ?? UNIT_AMOUNT),
    })),
    totals: { ...writeTotals(total), fee: '0', earnings: String(total), currency_code: 'USD' },
    payout_totals: null,
    created_at: writeTime(occurredAt),
    // Paddle has no time of an update yet when an adjustment is made.
    updated_at: type === 'created' ? '0001-01-01T00:00:00Z' : writeTime(occurredAt),
  };
  return paddleEvent(`adjustment.${type}`, data, options);
}

/** Who pays: the only events that hold an e-mail address. */
export function paddleCustomer(
  type: 'created' | 'imported' | 'updated',
  options: PaddleCustomerOptions = {},
): PaddleEvent {
  const occurredAt = options.occurredAt ?? TEST_START;
  const id = options.customerId ?? PADDLE_IDS.customer;
  const data = {
    id,
    name: options.name === undefined ? 'Ann Example' : options.name,
    email: options.email ?? `${id}@example.com`,
    marketing_consent: false,
    status: 'active',
    locale: options.locale ?? 'en',
    custom_data: null,
    import_meta: null,
    created_at: writeTime(occurredAt),
    updated_at: writeTime(occurredAt),
  };
  return paddleEvent(`customer.${type}`, data, options);
}

const TRANSACTION_STATUSES: Readonly<Record<PaddleTransactionType, string>> = {
  billed: 'billed',
  canceled: 'canceled',
  completed: 'completed',
  created: 'draft',
  paid: 'paid',
  past_due: 'past_due',
  payment_failed: 'ready',
  ready: 'ready',
  revised: 'completed',
  updated: 'ready',
};

const SUBSCRIPTION_STATUSES: Readonly<Record<PaddleSubscriptionType, string>> = {
  activated: 'active',
  canceled: 'canceled',
  created: 'active',
  imported: 'active',
  past_due: 'past_due',
  paused: 'paused',
  resumed: 'active',
  trialing: 'trialing',
  updated: 'active',
};

/** Paused and canceled subscriptions have no period and no next charge: so it is in Paddle's own samples. */
function writeSubscriptionTimes(
  status: string,
  { occurredAt = TEST_START, ...options }: PaddleSubscriptionOptions,
): Readonly<Record<string, unknown>> {
  const isOff = status === 'paused' || status === 'canceled';
  const period = options.period === undefined && !isOff ? paddlePeriod(occurredAt) : options.period;
  const { pausedAt = status === 'paused' ? occurredAt : null } = options;
  const { canceledAt = status === 'canceled' ? occurredAt : null } = options;
  const endsSoon = options.scheduledChange?.action === 'cancel';
  return {
    created_at: writeTime(TEST_START),
    updated_at: writeTime(occurredAt),
    started_at: writeTime(TEST_START),
    first_billed_at: writeTime(TEST_START),
    next_billed_at: isOff || endsSoon ? null : writeTime(period?.endsAt ?? null),
    paused_at: writeTime(pausedAt),
    canceled_at: writeTime(canceledAt),
    current_billing_period: writePeriod(period ?? null),
  };
}

function writeScheduledChange(
  change: { readonly action: string; readonly effectiveAt: Date } | null,
): Readonly<Record<string, unknown>> | null {
  if (change === null) return null;
  return { action: change.action, effective_at: writeTime(change.effectiveAt), resume_at: null };
}

function writeSubscriptionItem(
  line: PaddleLine,
  status: string,
): Readonly<Record<string, unknown>> {
  return {
    // An item stays active in a subscription that is canceled: so it is in Paddle's own samples.
    status: status === 'trialing' ? 'trialing' : 'active',
    quantity: line.quantity ?? 1,
    recurring: line.cycle !== null,
    created_at: writeTime(TEST_START),
    updated_at: writeTime(TEST_START),
    previously_billed_at: writeTime(TEST_START),
    next_billed_at: null,
    trial_dates: null,
    price: writePrice({ cycle: PADDLE_MONTH, ...line }),
    product: writeProduct(line.priceId),
  };
}
