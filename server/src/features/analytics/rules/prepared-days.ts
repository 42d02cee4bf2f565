import { addDays, dayOf, startOf, type Day } from './days.ts';

/**
 * Returns until when events can be stored: the end of the days that follow a time without a gap.
 * @param days the days with a partition
 */
export function findPreparedUntil(days: readonly Day[], now: Date): Date {
  const present = new Set(days);
  let day = dayOf(now);
  while (present.has(day)) day = addDays(day, 1);
  return startOf(day);
}
