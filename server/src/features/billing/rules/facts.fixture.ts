import { TEST_PRICES } from '../../../../test/test-catalog.ts';
import {
  UNKNOWN_CUSTOMER,
  type AdjustmentFact,
  type BillingCycle,
  type BillingEvent,
  type BillingFact,
  type BillingLine,
  type BillingProvider,
  type PaymentFact,
  type SubscriptionFact,
} from '../facts.ts';

/** The prices of the test catalogue, and an unknown one. */
export const PRICES = {
  ...TEST_PRICES,
  unknown: 'pri_01zzzzzzzzzzzzzzzzzzzzzzzz',
} as const;

const MONTH: BillingCycle = { interval: 'month', frequency: 1 };

/** The first day of a month of 2027, plus some days. */
export function month(number: number, days = 0): Date {
  return new Date(Date.UTC(2027, number - 1, 1 + days, 12));
}

function period(number: number): { startsAt: Date; endsAt: Date } {
  return { startsAt: month(number), endsAt: month(number + 1) };
}

export function line(priceId: string, more: Partial<BillingLine> = {}): BillingLine {
  return { lineId: priceId, priceId, quantity: 1, cycle: null, total: 1_000, ...more };
}

export function monthly(priceId: string, more: Partial<BillingLine> = {}): BillingLine {
  return line(priceId, { cycle: MONTH, ...more });
}

export function payment(more: Partial<PaymentFact> = {}): PaymentFact {
  return {
    kind: 'payment',
    transactionId: 'txn_1',
    subscriptionId: null,
    origin: 'purchase',
    customerId: 'ctm_1',
    customer: UNKNOWN_CUSTOMER,
    occurredAt: month(3),
    period: null,
    lines: [line(PRICES.personal)],
    total: 1_000,
    ...more,
  };
}

/** As Paddle reports it at the least: without period and subscription. */
export function checkout(more: Partial<PaymentFact> = {}): PaymentFact {
  return payment({ lines: [monthly(PRICES.personal, { lineId: 'txnitm_1' })], ...more });
}

export function renewal(number: number, more: Partial<PaymentFact> = {}): PaymentFact {
  return payment({
    transactionId: `txn_${number}`,
    subscriptionId: 'sub_1',
    origin: 'renewal',
    occurredAt: month(number),
    period: period(number),
    lines: [monthly(PRICES.personal, { lineId: `txnitm_${number}` })],
    ...more,
  });
}

export function snapshot(
  occurredAt: Date,
  status: SubscriptionFact['status'],
  periodOf: number | null,
  more: Partial<SubscriptionFact> = {},
): SubscriptionFact {
  return {
    kind: 'subscription',
    subscriptionId: 'sub_1',
    transactionId: null,
    customerId: 'ctm_1',
    customer: UNKNOWN_CUSTOMER,
    occurredAt,
    status,
    period: periodOf === null ? null : period(periodOf),
    pausedAt: status === 'paused' ? occurredAt : null,
    canceledAt: status === 'canceled' ? occurredAt : null,
    scheduledChange: null,
    lines: [monthly(PRICES.personal)],
    ...more,
  };
}

/** `subscription.created`: the only snapshot with a transaction. */
export function began(more: Partial<SubscriptionFact> = {}): SubscriptionFact {
  return snapshot(month(3), 'active', 3, { transactionId: 'txn_1', ...more });
}

export function adjustment(more: Partial<AdjustmentFact> = {}): AdjustmentFact {
  return {
    kind: 'adjustment',
    adjustmentId: 'adj_1',
    transactionId: 'txn_1',
    occurredAt: month(3, 2),
    effect: 'refund',
    status: 'approved',
    full: true,
    total: 1_000,
    lines: [],
    ...more,
  };
}

/** Creates an event for each fact. */
export function toEvents(
  facts: readonly BillingFact[],
  prefix = 'evt',
  provider: BillingProvider = 'paddle',
): BillingEvent[] {
  return facts.map((fact, index) => ({
    provider,
    eventId: `${prefix}_${index}`,
    type: `${fact.kind}.test`,
    occurredAt: fact.occurredAt,
    facts: [fact],
    ignoredBecause: null,
  }));
}

/** The expected license of a line. */
export interface ExpectedLicense {
  readonly lineKey: string;
  readonly productId: string;
  readonly machines: number;
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor?: Date;
  readonly canceledAt?: Date;
  readonly pausedAt?: Date;
  readonly disputedAt?: Date;
  readonly refundedAt?: Date;
}

/** The facts of a purchase and the expected licenses. */
export interface Scenario {
  readonly name: string;
  readonly facts: readonly BillingFact[];
  readonly expected: readonly ExpectedLicense[];
}

/** The default license of a one-time line. */
export const ONCE = { lineKey: 'once:0', productId: 'personal', machines: 2, expiresAt: null };

/** The default license of a monthly line. */
export const MONTHLY = { lineKey: 'recurring:0', productId: 'personal', machines: 2 };
