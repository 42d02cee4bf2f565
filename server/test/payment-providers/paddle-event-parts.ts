/** The common parts of Paddle's events: envelope, ids, times, amounts, prices. Tests import `paddle-events.ts`. */
import { createHash, randomUUID } from 'node:crypto';

import { DAY_MS, TEST_START } from '../test-clock.ts';

export type PaddleIdKind =
  | 'add'
  | 'adj'
  | 'adjitm'
  | 'ctm'
  | 'evt'
  | 'ntf'
  | 'pri'
  | 'pro'
  | 'sub'
  | 'txn'
  | 'txnitm';

export interface PaddleCycle {
  readonly interval: 'day' | 'week' | 'month' | 'year';
  readonly frequency: number;
}

export interface PaddlePeriod {
  readonly startsAt: Date;
  readonly endsAt: Date;
}

/** A line of a checkout or subscription. */
export interface PaddleLine {
  readonly priceId: string;
  /** Default: 1. */
  readonly quantity?: number;
  /** Default or null: one-time; monthly for the items of a subscription. */
  readonly cycle?: PaddleCycle | null;
  /** The id of the line item (`txnitm_…`). Default: derived from the transaction and the index. */
  readonly lineId?: string;
  /** Per unit, in cents, tax included. Default: 2900. */
  readonly unitAmount?: number;
}

/** The default price of a line in cents. */
export const UNIT_AMOUNT = 2_900;
const ID_SYMBOLS = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * Creates an id in Paddle's format: the kind and 26 lower-case letters and digits.
 * @param label the same label returns the same id. Default: a new id
 */
export function paddleId(kind: PaddleIdKind, label: string = randomUUID()): string {
  const digest = createHash('sha256').update(`${kind}:${label}`).digest();
  const symbols = [...digest.subarray(0, 24)].map((byte) => ID_SYMBOLS[byte % 32] ?? '0');
  return `${kind}_01${symbols.join('')}`;
}

export function lineTotal({ quantity = 1, unitAmount = UNIT_AMOUNT }: PaddleLine): number {
  return quantity * unitAmount;
}

export function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}

export function writeTime(time: Date): string;
export function writeTime(time: Date | null): string | null;
export function writeTime(time: Date | null): string | null {
  // Paddle writes microseconds.
  return time === null ? null : time.toISOString().replace('Z', '000Z');
}

export function writePeriod(
  period: PaddlePeriod | null,
): { readonly starts_at: string; readonly ends_at: string } | null {
  if (period === null) return null;
  return { starts_at: writeTime(period.startsAt), ends_at: writeTime(period.endsAt) };
}

export function writeType(type: string | null | undefined): { readonly type?: string } {
  return type === null ? {} : { type: type ?? 'full' };
}

/** Amounts with 20 % tax included. */
export function writeTotals(total: number): Readonly<Record<string, string>> {
  const tax = Math.round(total / 6);
  return { subtotal: String(total - tax), discount: '0', tax: String(tax), total: String(total) };
}

export function writeTransactionTotals(total: number): Readonly<Record<string, string | null>> {
  return {
    ...writeTotals(total),
    credit: '0',
    credit_to_balance: '0',
    balance: '0',
    grand_total: String(total),
    fee: null,
    earnings: null,
    currency_code: 'USD',
  };
}

export function writePrice(line: PaddleLine): Readonly<Record<string, unknown>> {
  return {
    id: line.priceId,
    product_id: paddleId('pro', line.priceId),
    description: 'Sold in the shop',
    type: 'standard',
    name: null,
    billing_cycle: line.cycle ?? null,
    trial_period: null,
    tax_mode: 'account_setting',
    unit_price: { amount: String(line.unitAmount ?? UNIT_AMOUNT), currency_code: 'USD' },
    unit_price_overrides: [],
    quantity: { minimum: 1, maximum: 100 },
    status: 'active',
    custom_data: null,
    import_meta: null,
    created_at: writeTime(TEST_START),
    updated_at: writeTime(TEST_START),
  };
}

export function writeProduct(priceId: string): Readonly<Record<string, unknown>> {
  return {
    id: paddleId('pro', priceId),
    name: 'Personal',
    description: null,
    type: 'standard',
    tax_category: 'standard',
    image_url: null,
    custom_data: null,
    status: 'active',
    import_meta: null,
    created_at: writeTime(TEST_START),
    updated_at: writeTime(TEST_START),
  };
}

export function writePayment(
  transactionId: string,
  total: number,
  capturedAt: Date,
): Readonly<Record<string, unknown>> {
  return {
    payment_attempt_id: transactionId,
    stored_payment_method_id: null,
    payment_method_id: null,
    amount: String(total),
    status: 'captured',
    error_code: null,
    method_details: { type: 'paypal', card: null },
    created_at: writeTime(capturedAt),
    captured_at: writeTime(capturedAt),
  };
}

/** An event before serialization to JSON. */
export interface PaddleEvent {
  readonly event_id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  readonly notification_id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Options of all events. */
export interface PaddleEventOptions {
  /** Default: a new one each time. */
  readonly eventId?: string;
  /** Default: the tests' start. */
  readonly occurredAt?: Date;
  /** Overrides fields of the event's data; `undefined` removes a field. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The default ids: one customer, one transaction, one subscription. */
export const PADDLE_IDS = {
  adjustment: paddleId('adj', 'default'),
  customer: paddleId('ctm', 'default'),
  price: paddleId('pri', 'default'),
  subscription: paddleId('sub', 'default'),
  transaction: paddleId('txn', 'default'),
} as const;

/** The default billing cycle of subscriptions. */
export const PADDLE_MONTH: PaddleCycle = { interval: 'month', frequency: 1 };

/** The default id of a transaction's line item. */
export function paddleLineId(transactionId: string, ordinal = 0): string {
  return paddleId('txnitm', `${transactionId}:${ordinal}`);
}

/** A period of a number of days. */
export function paddlePeriod(startsAt: Date, days = 31): PaddlePeriod {
  return { startsAt, endsAt: new Date(startsAt.getTime() + days * DAY_MS) };
}

/** An event of any type with given data. */
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
