import { type FileHandle, open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

import { Option } from 'commander';

import { type CsvCell, formatCsvLine } from '#server/lib/csv.ts';
import { codeOf, hasCode } from '#server/lib/error-code.ts';

import { commandProcess } from './command-process.ts';
import { failed } from './command-error.ts';
import { printNote, withProgress } from './output.ts';

/** What every export takes. */
export interface ExportOptions {
  readonly format: 'csv' | 'jsonl';
  readonly output?: string;
}

/** The columns of an export, in their order: each a name and how its value is read off a record. */
export type Columns<T> = Readonly<Record<string, (record: T) => CsvCell>>;

/** In which format an export is written. */
export function formatOption(): Option {
  return new Option('--format <format>', 'csv for spreadsheets, jsonl for programs')
    .choices(['csv', 'jsonl'])
    .default('csv');
}

/** An export names customers, so only its owner may read it. */
const FILE_MODE = 0o600;

/** The lines of an export, with their line breaks. */
export async function* formatAll<T>(
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

/**
 * Writes an export as a stream, and shows how far it is.
 * @param noun what is written, in the plural
 * @param path of a new file; undefined: standard output
 */
export async function writeExport(
  noun: string,
  path: string | undefined,
  format: () => AsyncGenerator<string>,
): Promise<void> {
  await withProgress(noun, (report) => writeLines(() => countLines(format(), report), path));
  if (path !== undefined) printNote(`The ${noun} are in ${path}.`);
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

async function writeLines(lines: () => AsyncGenerator<string>, path?: string): Promise<void> {
  if (path === undefined) await pipeline(lines, commandProcess().stdout, { end: false });
  else await writeFile(lines, path);
}

async function writeFile(lines: () => AsyncGenerator<string>, path: string): Promise<void> {
  const file = await openNew(path);
  try {
    await pipeline(lines, file.createWriteStream());
  } catch (error) {
    // A part of the lines looks like all of them.
    await rm(path, { force: true });
    throw error;
  }
}

async function openNew(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'wx', FILE_MODE);
  } catch (error) {
    const why = hasCode(error, 'EEXIST') ? 'it exists already' : String(codeOf(error));
    throw failed(`${path} cannot be written (${why}): choose another --output.`, { cause: error });
  }
}
