/** Exports: records as lines of CSV or JSON, written as a stream to a new file or to standard output. */
import { open, rm, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { type CsvColumns, formatCsvLines } from '#server/lib/csv.ts';
import { codeOf, hasCode } from '#server/lib/unknown-values.ts';

import { failed } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { printNote, withProgress } from './output.ts';
import { anyText, choice, option } from './parameters.ts';

const FORMATS = ['csv', 'jsonl'] as const;

export const formatOption = choice(
  '--format <format>',
  'csv for spreadsheets, jsonl for programs',
  FORMATS,
).default('csv');

export const outputOption = option(
  '--output <file>',
  'write to a new file (default: standard output)',
  anyText,
);

/** An export contains personal data, so only its owner may read it. */
const FILE_MODE = 0o600;

/** Formats records as lines, each with its line break. */
export async function* formatLines<T>(
  records: AsyncIterable<T>,
  columns: CsvColumns<T>,
  format: (typeof FORMATS)[number],
): AsyncGenerator<string> {
  if (format === 'csv') return yield* formatCsvLines(records, columns);
  const entries = Object.entries(columns);
  for await (const record of records) {
    const values = entries.map(([name, read]) => [name, read(record)] as const);
    yield `${JSON.stringify(Object.fromEntries(values))}\n`;
  }
}

/**
 * Writes an export as a stream and shows its progress.
 * @param noun the plural noun of the records
 * @param path of a new file; null: standard output
 */
export async function writeExport(
  noun: string,
  path: string | null,
  format: () => AsyncGenerator<string>,
): Promise<void> {
  await withProgress(noun, async (report) => {
    const lines = () => countLines(format(), report);
    if (path === null) await pipeline(lines, commandProcess().stdout, { end: false });
    else await writeNewFile(lines, path);
  });
  if (path !== null) printNote(`Wrote the ${noun} to ${path}.`);
}

async function* countLines(
  lines: AsyncIterable<string>,
  report: (count: number) => void,
): AsyncGenerator<string> {
  let count = 0;
  for await (const line of lines) {
    yield line;
    count += 1;
    report(count);
  }
}

async function writeNewFile(lines: () => AsyncGenerator<string>, path: string): Promise<void> {
  const file = await createFile(path);
  try {
    await pipeline(lines, file.createWriteStream());
  } catch (error) {
    // An incomplete export looks like a complete one.
    await rm(path, { force: true });
    throw error;
  }
}

async function createFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', FILE_MODE);
  } catch (error) {
    const why = hasCode(error, 'EEXIST') ? 'it already exists' : String(codeOf(error));
    throw failed(`Cannot write ${path} (${why}): choose another --output.`, { cause: error });
  }
}
