/** The days that a report covers, and how it is printed. */
import { InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { findLastRun } from '#server/features/analytics/queries/rollup-marks.ts';
import { MAX_REPORT_ROWS } from '#server/features/analytics/reports/event-reports.ts';
import {
  addDays,
  type Day,
  dayOf,
  type DayRange,
  parseDay,
} from '#server/features/analytics/rules/days.ts';

import type { CommandValues, Result } from '../command.ts';
import { usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';
import { printNote } from '../output.ts';
import { flag, option } from '../parameters.ts';
import { type Answer, describeAge, toCsv, toObjects, toTable } from './answer.ts';

export const MONTH_DAYS = 30;
/** Twelve weeks. */
export const QUARTER_DAYS = 84;

/** @param defaultDays the number of days without --from */
export function rangeOptions(defaultDays: number) {
  return [
    option('--from <date>', `first day, in UTC (default: the last ${defaultDays} days)`, readDay),
    option('--to <date>', 'last day, in UTC (default: today)', readDay),
    flag('--csv', 'print CSV').conflicts('json'),
  ] as const;
}

type RangeValues = CommandValues<ReturnType<typeof rangeOptions>>;

/** Where a report is read. */
export interface ReportSource {
  readonly clock: Context['clock'];
  readonly reports: Pick<Context['reports'], 'read'>;
}

/**
 * Prints an answer as CSV, or returns it as a result.
 * @param ask reads the replica, if there is one
 */
export async function printReport(
  { clock, reports }: ReportSource,
  options: RangeValues,
  defaultDays: number,
  ask: (db: Queryable, range: DayRange, now: Date) => Promise<Answer>,
): Promise<Result | void> {
  const now = clock.now();
  const range = readRange(options, defaultDays, now);
  const [answer, last] = await reports.read(async (db) => [
    await ask(db, range, now),
    await findLastRun(db),
  ]);
  const age = describeAge(last, now);
  if (age !== null) printNote(age);
  if (answer.rows.length === MAX_REPORT_ROWS) {
    printNote(`Only the first ${MAX_REPORT_ROWS} rows are shown: select fewer days.`);
  }
  if (options.csv) {
    commandProcess().stdout.write(toCsv(answer));
    return;
  }
  const json = { ...range, up_to_date_at: last?.finishedAt ?? null, rows: toObjects(answer) };
  return { json, text: toTable(answer) };
}

const MAX_DAYS = 3_660;
const FIRST_DAY: Day = '2000-01-01';

function readDay(text: string): Day {
  const day = parseDay(text);
  if (day !== null && day >= FIRST_DAY) return day;
  throw new InvalidArgumentError('Expected a date such as 2027-03-01.');
}

/** @throws CommandError (exit code 2) for a range that ends before its start or exceeds ten years */
function readRange({ from, to }: RangeValues, defaultDays: number, now: Date): DayRange {
  const last = to ?? dayOf(now);
  const first = from ?? addDays(last, 1 - defaultDays);
  if (first > last) throw usageError(`--from ${first} is after --to ${last}.`);
  if (addDays(first, MAX_DAYS) <= last) {
    throw usageError(`A report covers at most ten years: use a --from after ${first}.`);
  }
  return { from: first, to: last };
}
