import { setTimeout as sleep } from 'node:timers/promises';

import { Command, InvalidArgumentError, Option } from 'commander';

import type { Context } from '#server/context.ts';
import { findLastRun } from '#server/features/analytics/queries/rollup-marks.ts';
import { MAX_REPORT_ROWS } from '#server/features/analytics/reports/event-reports.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { addDays, type Day, dayOf, type DayRange } from '#server/features/analytics/rules/days.ts';

import { commandProcess } from '../command-process.ts';
import { failed, usageError } from '../command-error.ts';
import { jsonOption, withExamples } from '../options.ts';
import { type OutputOptions, printNote, printResult, withProgress } from '../output.ts';
import { withContext } from '../with-context.ts';
import { type Question, type QuestionOptions, QUESTIONS } from './questions.ts';
import { describeAge, toCsv, toObjects, toTable } from './view.ts';

/** `latchkey report …` */
export function reportCommand(): Command {
  const command = new Command('report').description('What usage and events come to.');
  for (const question of reportCommandsOf()) command.addCommand(question);
  return command.addCommand(reportRefreshCommand());
}

interface ReportOptions extends OutputOptions, RangeOptions, QuestionOptions {
  readonly csv?: boolean;
}

/** One command for each question. */
function reportCommandsOf(): readonly Command[] {
  return QUESTIONS.map((question) => {
    const command = new Command(question.name).description(question.description);
    for (const option of question.options) command.addOption(option);
    addRangeOptions(command, question.defaultDays)
      .addOption(new Option('--csv', 'print CSV for spreadsheets').conflicts('json'))
      .addOption(jsonOption())
      .action((options: ReportOptions) => printReport(question, options));
    return withExamples(command, question.examples);
  });
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

/** The days that a report is asked for. */
interface RangeOptions {
  readonly from?: Day;
  readonly to?: Day;
}

const MAX_DAYS = 3_660;
const FIRST_DAY: Day = '2000-01-01';

/** Reads a day of the calendar. */
function day(text: string): Day {
  const parsed = /^\d{4}-\d{2}-\d{2}$/u.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  const known = parsed !== null && !Number.isNaN(parsed.getTime()) && dayOf(parsed) === text;
  if (known && text >= FIRST_DAY) return text;
  throw new InvalidArgumentError('It must be a day of the calendar such as 2027-03-01.');
}

/** Adds the options for the days that a report covers. @param defaultDays how many, up to today, when none are named */
function addRangeOptions(command: Command, defaultDays: number): Command {
  return command
    .option('--from <date>', `the first day (default: the last ${defaultDays} days)`, day)
    .option('--to <date>', 'the last day, in UTC (default: today)', day);
}

/**
 * The days that are asked for.
 * @throws CommandError (exit code 2) when they end before they begin, or are more than ten years
 */
function readRange({ from, to }: RangeOptions, defaultDays: number, now: Date): DayRange {
  const last = to ?? dayOf(now);
  const first = from ?? addDays(last, 1 - defaultDays);
  if (first > last) throw usageError(`--from ${first} comes after --to ${last}.`);
  if (addDays(first, MAX_DAYS) <= last) {
    throw usageError(`A report covers ten years at most: name a --from after ${first}.`);
  }
  return { from: first, to: last };
}

const RETRY_MS = 500;

/** A run of the service takes half a minute, and then pauses. */
const PATIENCE_MS = 2 * 60_000;

function reportRefreshCommand(): Command {
  const command = new Command('refresh')
    .description(
      'Sum up now what reports are made of; the service does it every five minutes by itself.',
    )
    .addOption(jsonOption())
    .action(refresh);
  return withExamples(command, [['report refresh', 'Before a report that has to have the latest']]);
}

async function refresh(options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const steps = await withProgress('steps', (report) => rollUpAll(ctx, report));
    printResult(options, { steps }, () => 'The reports are up to date.');
  });
}

/** Gives how many days, weeks and months it looked at. */
async function rollUpAll(ctx: Context, onStep: (done: number) => void): Promise<number> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  const { signal } = new AbortController();
  let steps = 0;
  const count = (done: number): void => onStep((steps = done));
  while ((await runRollups(ctx, { signal, everything: true, onStep: count })) === 'busy') {
    if (performance.now() > giveUpAt) {
      throw failed('Another process sums up the same and does not end: try again later.');
    }
    await sleep(RETRY_MS);
  }
  return steps;
}
