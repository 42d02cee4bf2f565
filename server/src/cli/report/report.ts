/** `latchkey report`: reports on usage and events. */
import { setTimeout as sleep } from 'node:timers/promises';

import { Command, InvalidArgumentError, Option } from 'commander';

import type { Context } from '#server/context.ts';
import { findLastRun } from '#server/features/analytics/queries/rollup-marks.ts';
import { MAX_REPORT_ROWS } from '#server/features/analytics/reports/event-reports.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { addDays, type Day, dayOf, type DayRange } from '#server/features/analytics/rules/days.ts';

import { failed, usageError } from '../command-error.ts';
import { commandProcess } from '../command-process.ts';
import { jsonOption, newCommand } from '../options.ts';
import { type OutputOptions, printNote, printResult, withProgress } from '../output.ts';
import { withContext } from '../with-context.ts';
import { type Question, type QuestionOptions, QUESTIONS } from './questions.ts';
import { describeAge, toCsv, toObjects, toTable } from './view.ts';

export function reportCommand(): Command {
  const command = new Command('report').description('Print reports on usage, events and trials.');
  for (const question of QUESTIONS) command.addCommand(questionCommand(question));
  return command.addCommand(refreshCommand());
}

interface ReportOptions extends OutputOptions, RangeOptions, QuestionOptions {
  readonly csv?: boolean;
}

function questionCommand(question: Question): Command {
  const { name, description, examples, defaultDays } = question;
  const command = newCommand(name, description, examples);
  for (const option of question.options) command.addOption(option);
  return command
    .option('--from <date>', `first day, in UTC (default: the last ${defaultDays} days)`, readDay)
    .option('--to <date>', 'last day, in UTC (default: today)', readDay)
    .addOption(new Option('--csv', 'print CSV').conflicts('json'))
    .addOption(jsonOption())
    .action((options: ReportOptions) => printReport(question, options));
}

async function printReport(question: Question, options: ReportOptions): Promise<void> {
  await withContext(async ({ clock, pool }) => {
    const now = clock.now();
    const range = readRange(options, question.defaultDays, now);
    const answer = await question.ask(pool, range, options, now);
    const last = await findLastRun(pool);
    const age = describeAge(last, now);
    if (age !== null) printNote(age);
    if (answer.rows.length === MAX_REPORT_ROWS) {
      printNote(`Only the first ${MAX_REPORT_ROWS} rows are shown: ask for fewer days.`);
    }
    if (options.csv === true) {
      commandProcess().stdout.write(toCsv(answer));
      return;
    }
    const upToDateAt = last?.finishedAt ?? null;
    const json = { ...range, up_to_date_at: upToDateAt, rows: toObjects(answer) };
    printResult(options, json, () => toTable(answer));
  });
}

interface RangeOptions {
  readonly from?: Day;
  readonly to?: Day;
}

const MAX_DAYS = 3_660;
const FIRST_DAY: Day = '2000-01-01';

function readDay(text: string): Day {
  const parsed = /^\d{4}-\d{2}-\d{2}$/u.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  const isDay = parsed !== null && !Number.isNaN(parsed.getTime()) && dayOf(parsed) === text;
  if (isDay && text >= FIRST_DAY) return text;
  throw new InvalidArgumentError('Expected a date such as 2027-03-01.');
}

/** @throws CommandError (exit code 2) for a range that ends before it begins or exceeds ten years */
function readRange({ from, to }: RangeOptions, defaultDays: number, now: Date): DayRange {
  const last = to ?? dayOf(now);
  const first = from ?? addDays(last, 1 - defaultDays);
  if (first > last) throw usageError(`--from ${first} is after --to ${last}.`);
  if (addDays(first, MAX_DAYS) <= last) {
    throw usageError(`A report covers at most ten years: use a --from after ${first}.`);
  }
  return { from: first, to: last };
}

const RETRY_MS = 500;

/** A roll-up of the service takes half a minute. */
const REFRESH_TIMEOUT_MS = 2 * 60_000;

function refreshCommand(): Command {
  return newCommand(
    'refresh',
    'Roll up usage and events for reports now. The service does this every five minutes.',
    [['report refresh', 'Before a report that needs the latest data']],
  )
    .addOption(jsonOption())
    .action(refresh);
}

async function refresh(options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const steps = await withProgress('steps', (report) => rollUp(context, report));
    printResult(options, { steps }, () => 'The reports are up to date.');
  });
}

/** Returns the number of days, weeks and months that were rolled up. */
async function rollUp(context: Context, onStep: (done: number) => void): Promise<number> {
  const deadline = performance.now() + REFRESH_TIMEOUT_MS;
  const { signal } = new AbortController();
  let steps = 0;
  const count = (done: number): void => onStep((steps = done));
  while ((await runRollups(context, { signal, everything: true, onStep: count })) === 'busy') {
    if (performance.now() > deadline) {
      throw failed('Another process is still running the roll-up: try again later.');
    }
    await sleep(RETRY_MS);
  }
  return steps;
}
