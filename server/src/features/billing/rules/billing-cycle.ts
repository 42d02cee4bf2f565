import type { BillingCycle, BillingPeriod } from '../facts.ts';

const DAY_MS = 86_400_000;

/** A moment so many billing cycles later; months of another length end on their last day, as providers count. */
export function addCycle(from: Date, { interval, frequency }: BillingCycle): Date {
  if (interval === 'day') return new Date(from.getTime() + frequency * DAY_MS);
  if (interval === 'week') return new Date(from.getTime() + frequency * 7 * DAY_MS);
  return addMonths(from, interval === 'month' ? frequency : frequency * 12);
}

function addMonths(from: Date, months: number): Date {
  const end = new Date(from);
  end.setUTCMonth(end.getUTCMonth() + months);
  // The 31st of a month that has 30 days runs over into the next one.
  if (end.getUTCDate() !== from.getUTCDate()) end.setUTCDate(0);
  return end;
}

/** Providers end a period some seconds early or late, and a change of the clocks moves it by an hour. */
const TOLERANCE_MS = 2 * 60 * 60 * 1000;

const COMMON: readonly BillingCycle[] = [
  { interval: 'year', frequency: 1 },
  { interval: 'month', frequency: 1 },
  { interval: 'month', frequency: 3 },
  { interval: 'month', frequency: 6 },
  { interval: 'year', frequency: 2 },
  { interval: 'year', frequency: 3 },
];

/** How often is paid what covers this span, where the provider tells the span only. */
export function inferCycle({ startsAt, endsAt }: BillingPeriod): BillingCycle {
  const isNear = (cycle: BillingCycle): boolean =>
    Math.abs(addCycle(startsAt, cycle).getTime() - endsAt.getTime()) <= TOLERANCE_MS;
  const days = Math.max(1, Math.round((endsAt.getTime() - startsAt.getTime()) / DAY_MS));
  return COMMON.find(isNear) ?? { interval: 'day', frequency: days };
}
