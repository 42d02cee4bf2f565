import { Command, Option } from 'commander';
import { findLastRun } from '#server/features/analytics/queries/rollup-marks.ts';
import { MAX_REPORT_ROWS } from '#server/features/analytics/reports/event-reports.ts';
import { jsonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printNote, printResult } from '../output.ts';
import type { Question, QuestionOptions } from './question.ts';
import { QUESTIONS } from './questions.ts';
import { type RangeOptions, addRangeOptions, readRange } from './range.ts';
import { describeAge, toCsv, toObjects, toTable } from './view.ts';
import { withContext } from '../with-context.ts';

interface ReportOptions extends OutputOptions, RangeOptions, QuestionOptions {
  readonly csv?: boolean;
}

/** One command for each question. */
export function reportCommandsOf(): readonly Command[] {
  return QUESTIONS.map((question) => {
    const command = new Command(question.name).description(question.description);
    for (const option of question.options) command.addOption(option);
    addRangeOptions(command, question.defaultDays)
      .addOption(new Option('--csv', 'print CSV for spreadsheets').conflicts('json'))
      .addOption(jsonOption())
      .action((options: ReportOptions) => report(question, options));
    return withExamples(command, question.examples);
  });
}

async function report(question: Question, options: ReportOptions): Promise<void> {
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
      process.stdout.write(toCsv(answer));
      return;
    }
    const upToDateAt = last?.finishedAt ?? null;
    const json = { ...range, up_to_date_at: upToDateAt, rows: toObjects(answer) };
    printResult(options, json, () => toTable(answer));
  });
}
