import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Argument, Command, Option } from 'commander';
import type { Context } from '#server/context.ts';
import { formatCsvLine } from '#server/lib/csv.ts';
import { failed } from './command-error.ts';
import {
  type Columns,
  activationColumns,
  licenseColumns,
  readAllActivations,
  readAllLicenses,
} from './export-rows.ts';
import { withExamples } from './option-values.ts';
import { createProgress, printNote } from './output.ts';
import { withContext } from './with-context.ts';

interface ExportOptions {
  readonly format: 'csv' | 'jsonl';
  readonly output?: string;
  readonly reveal?: boolean;
}

const SUBJECTS = ['licenses', 'activations', 'trials'] as const;
type Subject = (typeof SUBJECTS)[number];

/** An export names customers, so it is for its owner only. */
const FILE_MODE = 0o600;

export function exportCommand(): Command {
  const command = new Command('export')
    .description('Write all licenses, activations or trials, one per line.')
    .addArgument(new Argument('<what>', 'what to write').choices(SUBJECTS))
    .addOption(
      new Option('--format <format>', 'csv for spreadsheets, jsonl for programs')
        .choices(['csv', 'jsonl'])
        .default('csv'),
    )
    .option('--output <file>', 'a new file, instead of standard output')
    .option('--reveal', 'the license keys in full')
    .action(runExport);
  return withExamples(command, [
    ['export licenses --output licenses.csv', 'For a spreadsheet; formulas in names are defused'],
    [
      'export activations --format jsonl | gzip > activations.jsonl.gz',
      'As a stream, however many there are',
    ],
  ]);
}

async function runExport(subject: Subject, options: ExportOptions): Promise<void> {
  await withContext(async (ctx) => {
    const progress = createProgress(subject);
    let count = 0;
    const lines = async function* () {
      for await (const line of formatSubject(ctx, subject, options)) {
        yield line;
        count += 1;
        progress.update(count);
      }
    };
    await writeLines(lines, options.output);
    progress.end();
    if (options.output !== undefined) printNote(`The ${subject} are in ${options.output}.`);
  });
}

function formatSubject(
  ctx: Context,
  subject: Subject,
  { format, reveal = false }: ExportOptions,
): AsyncGenerator<string> {
  if (subject === 'activations') {
    return formatAll(readAllActivations(ctx), activationColumns, format);
  }
  const licenses = readAllLicenses(ctx, { trialsOnly: subject === 'trials' });
  return formatAll(licenses, licenseColumns(ctx, { reveal }), format);
}

async function* formatAll<T>(
  records: AsyncIterable<T>,
  columns: Columns<T>,
  format: ExportOptions['format'],
): AsyncGenerator<string> {
  const entries = Object.entries(columns);
  if (format === 'csv') yield formatCsvLine(entries.map(([name]) => name));
  for await (const record of records) {
    const cells = entries.map(([name, read]) => [name, read(record)] as const);
    yield format === 'csv'
      ? formatCsvLine(cells.map(([, value]) => value))
      : `${JSON.stringify(Object.fromEntries(cells))}\n`;
  }
}

async function writeLines(lines: () => AsyncGenerator<string>, path?: string): Promise<void> {
  if (path === undefined) {
    await pipeline(lines, process.stdout, { end: false });
    return;
  }
  try {
    await pipeline(lines, createWriteStream(path, { flags: 'wx', mode: FILE_MODE }));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && 'syscall' in error)) throw error;
    const why = error.code === 'EEXIST' ? 'it exists already' : String(error.code);
    throw failed(`${path} cannot be written (${why}): choose another --output.`, { cause: error });
  }
}
