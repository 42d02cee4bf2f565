/** Reads the records of an import from CSV or JSON lines. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { findColumnProblem, type ImportRecord } from '#server/features/licenses/import-record.ts';
import { CsvSyntaxError, readCsv } from '#server/lib/csv.ts';
import { hasCode, isRecord } from '#server/lib/unknown-values.ts';

import { commandProcess } from '../command-process.ts';
import { failed, usageError } from '../command-error.ts';

/** A record of a file; null: it cannot be parsed. */
export interface SourceRecord {
  /** Counted from 1. */
  readonly line: number;
  readonly record: ImportRecord | null;
}

export const IMPORT_FORMATS = ['csv', 'jsonl'] as const;

type ImportFormat = (typeof IMPORT_FORMATS)[number];

const MAX_LINE_CHARACTERS = 65_536;

/** Returns the format by the name of a file. @throws CommandError for another name */
export function guessFormat(path: string): ImportFormat {
  if (/\.csv$/iu.test(path)) return 'csv';
  if (/\.(?:jsonl|ndjson)$/iu.test(path)) return 'jsonl';
  throw usageError('Set --format to csv or jsonl.');
}

/** Opens a file, or standard input for `-`. */
export function openSource(path: string): Readable {
  const stream = path === '-' ? commandProcess().stdin : createReadStream(path);
  return stream.setEncoding('utf8');
}

/**
 * Reads the records of a file as a stream.
 * @throws CommandError for a file that does not exist, or whose header or quoting is invalid
 */
export async function* readRecords(
  source: Readable,
  format: ImportFormat,
): AsyncGenerator<SourceRecord> {
  try {
    yield* format === 'csv' ? readCsvRecords(source) : readJsonLines(source);
  } catch (error) {
    if (error instanceof CsvSyntaxError) throw failed(`Line ${error.line}: ${error.message}.`);
    if (hasCode(error, 'ENOENT')) {
      throw failed('The file does not exist.', { cause: error });
    }
    throw error;
  }
}

async function* readCsvRecords(source: Readable): AsyncGenerator<SourceRecord> {
  let header: readonly string[] | null = null;
  for await (const { line, cells } of readCsv(source)) {
    if (header === null) {
      header = cells.map((cell) => cell.trim());
      const problem = findColumnProblem(header);
      if (problem !== null) throw failed(`Line ${line}: ${problem}`);
    } else {
      const record = cells.length === header.length ? toRecord(header, cells) : null;
      yield { line, record };
    }
  }
}

function toRecord(header: readonly string[], cells: readonly string[]): ImportRecord {
  return Object.fromEntries(
    header.map((name, column) => [name, unescapeFormula(cells[column] ?? '')]),
  );
}

/** Removes the apostrophe that an export adds to spreadsheet formulas. */
function unescapeFormula(cell: string): string {
  return /^'[=+\-@\t\r]/u.test(cell) ? cell.slice(1) : cell;
}

async function* readJsonLines(source: Readable): AsyncGenerator<SourceRecord> {
  let line = 0;
  for await (const text of createInterface({ input: source, crlfDelay: Infinity })) {
    line += 1;
    // `trim` also removes a byte order mark, which JSON.parse rejects.
    const trimmed = text.trim();
    if (trimmed !== '') yield { line, record: parseObject(trimmed) };
  }
}

function parseObject(text: string): ImportRecord | null {
  if (text.length > MAX_LINE_CHARACTERS) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}
