import type { BillingCycle, BillingPeriod, PaymentFact, SubscriptionFact } from '../facts.ts';
import type { PurchaseFacts } from './group-purchases.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the end of the paid time of a subscription, or null if nothing was paid. Only payments and the first active
 * snapshot extend it: `past_due` snapshots and those at the start of a renewal already contain the next, unpaid period. Until
 * the period of the purchase is known, it ends one billing cycle after the purchase.
 * @param cycle null if unknown
 */
export function paidThrough(facts: PurchaseFacts, cycle: BillingCycle | null): Date | null {
  const ends = facts.payments.flatMap((payment) => endOfPayment(payment, cycle) ?? []);
  const purchase = facts.payments.find(({ origin }) => origin === 'purchase');
  const opening = findOpening(facts.snapshots, purchase);
  if (opening !== null) ends.push(opening);
  if (ends.length > 0) return new Date(Math.max(...ends.map((end) => end.getTime())));
  if (purchase === undefined || cycle === null) return null;
  return addCycle(purchase.occurredAt, cycle);
}

/**
 * Returns the end of the first period. If the first snapshots are missing, the oldest known one may be that of an unpaid
 * renewal; such a period starts long after the purchase, and does not count.
 */
function findOpening(
  snapshots: readonly SubscriptionFact[],
  purchase: PaymentFact | undefined,
): Date | null {
  const opening = snapshots.find(
    ({ status, period }) => (status === 'active' || status === 'trialing') && period !== null,
  );
  const period = opening?.period ?? null;
  if (period === null) return null;
  if (purchase === undefined) return period.endsAt;
  const isLater = period.startsAt.getTime() > purchase.occurredAt.getTime() + DAY_MS;
  return isLater ? null : period.endsAt;
}

function endOfPayment(payment: PaymentFact, cycle: BillingCycle | null): Date | null {
  if (payment.origin === 'other') return null;
  if (payment.period !== null) return payment.period.endsAt;
  if (payment.origin !== 'renewal' || cycle === null) return null;
  return addCycle(payment.occurredAt, cycle);
}

/** Adds a billing cycle to a time, as providers do: a day that the month lacks becomes its last day. */
function addCycle(from: Date, { interval, frequency }: BillingCycle): Date {
  if (interval === 'day') return new Date(from.getTime() + frequency * DAY_MS);
  if (interval === 'week') return new Date(from.getTime() + frequency * 7 * DAY_MS);
  return addMonths(from, interval === 'month' ? frequency : frequency * 12);
}

function addMonths(from: Date, months: number): Date {
  const end = new Date(from);
  end.setUTCMonth(end.getUTCMonth() + months);
  // The 31st of a month with 30 days overflows into the next month.
  if (end.getUTCDate() !== from.getUTCDate()) end.setUTCDate(0);
  return end;
}

/** Periods end some seconds early or late, and daylight saving time shifts them by an hour. */
const TOLERANCE_MS = 2 * 60 * 60 * 1000;

const COMMON_CYCLES: readonly BillingCycle[] = [
  { interval: 'year', frequency: 1 },
  { interval: 'month', frequency: 1 },
  { interval: 'month', frequency: 3 },
  { interval: 'month', frequency: 6 },
  { interval: 'year', frequency: 2 },
  { interval: 'year', frequency: 3 },
];

/** Infers the billing cycle from a period, for providers that report only the period. */
export function inferCycle({ startsAt, endsAt }: BillingPeriod): BillingCycle {
  const isNear = (cycle: BillingCycle): boolean =>
    Math.abs(addCycle(startsAt, cycle).getTime() - endsAt.getTime()) <= TOLERANCE_MS;
  const days = Math.max(1, Math.round((endsAt.getTime() - startsAt.getTime()) / DAY_MS));
  return COMMON_CYCLES.find(isNear) ?? { interval: 'day', frequency: days };
}
