/** Periods of reports that are not over. Days are in UTC, weeks begin on Monday. */
import { serviceNowMs } from '#console/app/service-clock.ts';

const DAY_MS = 86_400_000;

/** The length of a period. */
export type PeriodLength = 'day' | 'week' | 'month';

/** Whether a period is not over. @param start its first day, such as `2026-11-23` */
export function isUnfinished(start: string, length: PeriodLength, nowMs = serviceNowMs()): boolean {
  return nowMs < endOf(start, length);
}

function endOf(start: string, length: PeriodLength): number {
  const first = new Date(start);
  if (length === 'month') return Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1);
  return first.getTime() + (length === 'week' ? 7 : 1) * DAY_MS;
}

/** Returns how many periods are over: a line ends after them. @param starts first days, oldest first */
export function countFinished(
  starts: readonly string[],
  length: PeriodLength,
  nowMs = serviceNowMs(),
): number {
  return starts.filter((start) => !isUnfinished(start, length, nowMs)).length;
}
