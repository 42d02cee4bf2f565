import type { BillingCycle, BillingPeriod } from '../facts.ts';

const DAY_MS = 86_400_000;

/** Adds a billing cycle to a time, as providers do: a day that the month lacks becomes its last day. */
export function addCycle(from: Date, { interval, frequency }: BillingCycle): Date {
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
