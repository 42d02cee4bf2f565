import { CsvSyntaxError, readCsv, type CsvSeparator } from '#server/lib/csv.ts';
import { unescapeFormulas } from '#server/lib/spreadsheet-formula.ts';

import { ImportFileError } from './import-file-error.ts';
import type { SourceRow } from './source-row.ts';

const SEPARATORS: readonly CsvSeparator[] = [',', ';', '\t'];

/** A longer first line is no header. */
const MAX_HEADER_CHARACTERS = 65_536;

/** More columns than any export has, with a column for each custom field. */
const MAX_COLUMNS = 1_000;

/** The first line that Excel writes to name the separator of the file. */
const SEPARATOR_LINE = /^sep=(?<separator>[,;\t])$/u;

/**
 * Reads a table with a header as a stream. The separator is the most frequent one in the header: a comma, a semicolon or a
 * tab. Rows whose cells are all empty, which spreadsheets append, are left out.
 * @param findProblem returns what is wrong with the columns; null when nothing is
 * @throws ImportFileError for invalid quoting or columns
 */
export async function* readTable(
  chunks: AsyncIterable<string>,
  findProblem: (columns: readonly string[]) => string | null,
): AsyncGenerator<SourceRow> {
  const { start, rest } = await readStart(chunks);
  const { named, skipped } = findNamedSeparator(start);
  const separator = named ?? findSeparator(start);
  let header: readonly string[] | null = null;
  try {
    for await (const { line, cells } of readCsv(rest, separator)) {
      if (line <= skipped) continue;
      if (header === null) {
        header = readHeader(cells);
        const problem = findProblem(header);
        if (problem !== null) throw new ImportFileError(`Line ${line}: ${problem}`);
      } else if (cells.some((cell) => cell.trim() !== '')) {
        yield toRow(line, header, cells);
      }
    }
  } catch (error) {
    if (error instanceof CsvSyntaxError) {
      throw new ImportFileError(`Line ${error.line}: ${error.message}.`);
    }
    throw error;
  }
  if (header === null) throw new ImportFileError('The file is empty.');
}

/** Reads until the end of the first line; `rest` is the whole text again. */
async function readStart(chunks: AsyncIterable<string>) {
  const iterator = chunks[Symbol.asyncIterator]();
  let start = '';
  while (!/[\r\n]/u.test(start) && start.length <= MAX_HEADER_CHARACTERS) {
    const next = await iterator.next();
    if (next.done === true) break;
    start += next.value;
  }
  async function* rest(): AsyncGenerator<string> {
    yield start;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
      yield next.value;
    }
  }
  return { start, rest: rest() };
}

function findNamedSeparator(start: string): { named: CsvSeparator | null; skipped: number } {
  const { separator } = SEPARATOR_LINE.exec(firstLine(start))?.groups ?? {};
  const named = SEPARATORS.find((each) => each === separator) ?? null;
  return { named, skipped: named === null ? 0 : 1 };
}

function firstLine(text: string): string {
  return text.slice(0, MAX_HEADER_CHARACTERS).split(/[\r\n]/u, 1)[0] ?? '';
}

/** Counts separators outside of quotes, in which a column's name may contain them. */
function findSeparator(start: string): CsvSeparator {
  const unquoted = firstLine(start)
    .split('"')
    .filter((_, index) => index % 2 === 0);
  const counts = SEPARATORS.map((each) =>
    unquoted.reduce((sum, part) => sum + part.split(each).length - 1, 0),
  );
  const most = Math.max(...counts);
  return SEPARATORS[counts.indexOf(most)] ?? ',';
}

function readHeader(cells: readonly string[]): string[] {
  if (cells.length > MAX_COLUMNS) {
    throw new ImportFileError(
      `The file has ${cells.length} columns; at most ${MAX_COLUMNS} are read.`,
    );
  }
  return cells.map((cell) => cell.trim());
}

function toRow(line: number, header: readonly string[], cells: readonly string[]): SourceRow {
  if (cells.length > header.length) {
    return { line, problem: 'The row has more columns than the header.' };
  }
  const entries = header.map((name, column): [string, string] => [
    name,
    unescapeFormulas(cells[column] ?? ''),
  ]);
  // The first of two columns of the same name counts: exports add the columns of custom fields at the end.
  return { line, record: Object.fromEntries(entries.toReversed()) };
}
