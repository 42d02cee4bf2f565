import { escapeFormulas } from './spreadsheet-formula.ts';

/** A value of a table's cell. */
export type CsvCell = string | number | boolean | Date | null;

/** Control characters: a terminal that shows the file would execute them. */
const CONTROLS = /(?![\t\r\n])\p{Cc}/gu;

/**
 * Formats one line of CSV (RFC 4180), with its line break. Names and notes are untrusted: what a spreadsheet might
 * run as a formula is prefixed with an apostrophe, and a dot replaces each control character.
 */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`;
}

/** The columns of a table, in their order: each a name and how to read its value from a record. */
export type CsvColumns<T> = Readonly<Record<string, (record: T) => CsvCell>>;

/** Formats records as lines of CSV, after a line with the names of the columns. */
export async function* formatCsvLines<T>(
  records: AsyncIterable<T> | Iterable<T>,
  columns: CsvColumns<T>,
): AsyncGenerator<string> {
  const reads = Object.values(columns);
  yield formatCsvLine(Object.keys(columns));
  for await (const record of records) yield formatCsvLine(reads.map((read) => read(record)));
}

function formatCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell !== 'string') return String(cell);
  const shown = cell.replaceAll(CONTROLS, '·');
  const text = escapeFormulas(shown);
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A record of a CSV file and the number of its first line, counted from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly cells: readonly string[];
}

/** A file that is not CSV. */
export class CsvSyntaxError extends Error {
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.name = 'CsvSyntaxError';
    this.line = line;
  }
}

/** The longest accepted record: an unclosed quote must not consume the whole file. */
const MAX_RECORD_CHARACTERS = 1_048_576;

/** More cells than any table has: a record is read again with each part of the file, until it is complete. */
const MAX_CELLS = 10_000;

/** The characters that separate the cells of a record. */
export type CsvSeparator = ',' | ';' | '\t';

/**
 * A cell and its end, by the separator. In quotes, two quotes mean one, and text after the closing quote belongs to the cell.
 */
const CELLS: Readonly<Record<CsvSeparator, RegExp>> = {
  ',': /(?:"(?<quoted>[^"]*(?:""[^"]*)*)"(?!")(?<rest>[^,\r\n]*)|(?<plain>(?!")[^,\r\n]*))(?<end>,|\r\n|\r|\n|$)/uy,
  ';': /(?:"(?<quoted>[^"]*(?:""[^"]*)*)"(?!")(?<rest>[^;\r\n]*)|(?<plain>(?!")[^;\r\n]*))(?<end>;|\r\n|\r|\n|$)/uy,
  '\t': /(?:"(?<quoted>[^"]*(?:""[^"]*)*)"(?!")(?<rest>[^\t\r\n]*)|(?<plain>(?!")[^\t\r\n]*))(?<end>\t|\r\n|\r|\n|$)/uy,
};

const LINE_BREAKS = /\r\n|\r|\n/gu;

/**
 * Reads CSV as a stream (RFC 4180; line breaks of any kind; a byte order mark and empty lines are skipped). csv-parse
 * would drop the records before a syntax error, and counts a line break of two characters within quotes as two lines.
 * @throws CsvSyntaxError for a quote that is not closed, or a record of more than a million characters or 10,000 cells
 */
export async function* readCsv(
  chunks: AsyncIterable<string>,
  separator: CsvSeparator = ',',
): AsyncGenerator<CsvRecord> {
  let rest: CsvText = { text: '', line: 1 };
  let isFirst = true;
  for await (const chunk of chunks) {
    const text = isFirst ? chunk.replace(/^\uFEFF/u, '') : rest.text + chunk;
    isFirst = false;
    rest = yield* readRecords({ text, line: rest.line }, separator, false);
    if (rest.text.length > MAX_RECORD_CHARACTERS) {
      throw new CsvSyntaxError(rest.line, 'the record is too long, or a quote is not closed');
    }
  }
  rest = yield* readRecords(rest, separator, true);
  if (rest.text !== '') throw new CsvSyntaxError(rest.line, 'a quote is not closed');
}

/** A part of a file and the number of its first line. */
interface CsvText {
  readonly text: string;
  readonly line: number;
}

/** Reads the records of a text, and returns the rest, which continues in the next chunk. */
function* readRecords(
  { text, line: firstLine }: CsvText,
  separator: CsvSeparator,
  isComplete: boolean,
): Generator<CsvRecord, CsvText> {
  let line = firstLine;
  let start = 0;
  while (start < text.length) {
    const record = readRecord({ text, line }, start, separator, isComplete);
    if (record === null) break;
    const { cells, end } = record;
    if (cells.length > 1 || cells[0] !== '') yield { line, cells };
    line += text.slice(start, end).match(LINE_BREAKS)?.length ?? 0;
    start = end;
  }
  return { text: text.slice(start), line };
}

/** Reads one record; returns null when its last cell or line break may continue in the next chunk. */
function readRecord(
  { text, line }: CsvText,
  start: number,
  separator: CsvSeparator,
  isComplete: boolean,
) {
  const cells: string[] = [];
  const cell = CELLS[separator];
  cell.lastIndex = start;
  for (;;) {
    const { quoted, rest = '', plain = '', end } = cell.exec(text)?.groups ?? {};
    if (end === undefined || (!isComplete && cell.lastIndex === text.length)) return null;
    if (cells.length === MAX_CELLS) {
      throw new CsvSyntaxError(line, `the record has more than ${MAX_CELLS} cells`);
    }
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"') + rest);
    if (end !== separator) return { cells, end: cell.lastIndex };
  }
}
