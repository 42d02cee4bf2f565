import { type Command, InvalidArgumentError } from 'commander';

import { type Day, addDays, dayOf, type DayRange } from '#server/features/analytics/rules/days.ts';

import { usageError } from '../command-error.ts';

/** The days that a report is asked for. */
export interface RangeOptions {
  readonly from?: Day;
  readonly to?: Day;
}

const MAX_DAYS = 3_660;
const FIRST_DAY: Day = '2000-01-01';

/** Reads a day of the calendar. */
export function day(text: string): Day {
  const parsed = /^\d{4}-\d{2}-\d{2}$/u.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  const known = parsed !== null && !Number.isNaN(parsed.getTime()) && dayOf(parsed) === text;
  if (known && text >= FIRST_DAY) return text;
  throw new InvalidArgumentError('It must be a day of the calendar such as 2027-03-01.');
}

/** Adds the options for the days that a report covers. @param defaultDays how many, up to today, when none are named */
export function addRangeOptions(command: Command, defaultDays: number): Command {
  return command
    .option('--from <date>', `the first day (default: the last ${defaultDays} days)`, day)
    .option('--to <date>', 'the last day, in UTC (default: today)', day);
}

/**
 * The days that are asked for.
 * @throws CommandError (exit code 2) when they end before they begin, or are more than ten years
 */
export function readRange({ from, to }: RangeOptions, defaultDays: number, now: Date): DayRange {
  const last = to ?? dayOf(now);
  const first = from ?? addDays(last, 1 - defaultDays);
  if (first > last) throw usageError(`--from ${first} comes after --to ${last}.`);
  if (addDays(first, MAX_DAYS) <= last) {
    throw usageError(`A report covers ten years at most: name a --from after ${first}.`);
  }
  return { from: first, to: last };
}
