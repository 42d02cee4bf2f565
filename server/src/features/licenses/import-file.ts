/** Reads the records of an import from CSV or JSON lines. */
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

import { unescapeFormulas } from '#server/lib/spreadsheet-formula.ts';
import { CsvSyntaxError, readCsv } from '#server/lib/csv.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

import { findColumnProblem, type ImportRecord } from './import-record.ts';

/** A record of a file; null: it cannot be parsed. */
export interface SourceRecord {
  /** Counted from 1. */
  readonly line: number;
  readonly record: ImportRecord | null;
}

export const IMPORT_FORMATS = ['csv', 'jsonl'] as const;

export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** A file that cannot be imported; the message is a sentence for the operator. */
export class ImportFileError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ImportFileError';
  }
}

const MAX_LINE_CHARACTERS = 65_536;

/**
 * Reads the records of a file as a stream.
 * @throws ImportFileError for a file whose header or quoting is invalid
 */
export async function* readRecords(
  source: Readable,
  format: ImportFormat,
): AsyncGenerator<SourceRecord> {
  try {
    yield* format === 'csv' ? readCsvRecords(source) : readJsonLines(source);
  } catch (error) {
    if (error instanceof CsvSyntaxError) {
      throw new ImportFileError(`Line ${error.line}: ${error.message}.`);
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
      if (problem !== null) throw new ImportFileError(`Line ${line}: ${problem}`);
    } else {
      const record = cells.length === header.length ? toRecord(header, cells) : null;
      yield { line, record };
    }
  }
}

function toRecord(header: readonly string[], cells: readonly string[]): ImportRecord {
  return Object.fromEntries(
    header.map((name, column) => [name, unescapeFormulas(cells[column] ?? '')]),
  );
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
