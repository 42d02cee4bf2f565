import type { BillingCycle } from '../facts.ts';

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
