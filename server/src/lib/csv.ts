/** A value of a table's cell. */
export type CsvCell = string | number | boolean | Date | null;

/**
 * What a spreadsheet would take for a formula (OWASP, CSV Injection). Some read the full-width characters of East Asian
 * text like the plain ones.
 */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/u;

/** What no spreadsheet shows, and a terminal that shows the file obeys. */
const CONTROLS = /[\p{Cc}--[\t\r\n]]/gv;

/**
 * One line of CSV (RFC 4180), with its line break. Text that a spreadsheet would run as a formula gets an apostrophe in
 * front, and a dot stands for each control character, since names and notes come from strangers; numbers are left as they
 * are.
 */
export function formatCsvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(formatCell).join(',')}\r\n`;
}

function formatCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (cell instanceof Date) return cell.toISOString();
  if (typeof cell !== 'string') return String(cell);
  const shown = cell.replaceAll(CONTROLS, '·');
  const text = FORMULA_START.test(shown) ? `'${shown}` : shown;
  return /[",\r\n]/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A record of a CSV file and the number of the line that it begins on, counted from 1. */
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

/** The longest record that is accepted: a quote that is never closed must not swallow a whole file. */
const MAX_RECORD_CHARACTERS = 1_048_576;

/**
 * Reads CSV (RFC 4180; line breaks of any kind, a byte order mark is skipped) as it comes in. Empty lines are skipped.
 * @throws CsvSyntaxError for a quote that is not closed, or a record of more than a million characters
 */
export async function* readCsv(chunks: AsyncIterable<string>): AsyncGenerator<CsvRecord> {
  const reader = new CsvReader();
  for await (const chunk of chunks) yield* reader.push(chunk);
  yield* reader.finish();
}

class CsvReader {
  #line = 1;
  #startLine = 1;
  #cells: string[] = [];
  #cell = '';
  #characters = 0;
  #first = true;
  #previous = '';
  #state: 'plain' | 'quoted' | 'quote-in-quoted' = 'plain';

  *push(chunk: string): Generator<CsvRecord> {
    for (const character of this.#first ? chunk.replace(/^\uFEFF/u, '') : chunk) {
      this.#first = false;
      const record = this.#take(character);
      if (record !== null) yield record;
      this.#previous = character;
    }
  }

  *finish(): Generator<CsvRecord> {
    if (this.#state === 'quoted')
      throw new CsvSyntaxError(this.#startLine, 'a quote is not closed');
    const record = this.#endRecord();
    if (record !== null) yield record;
  }

  #take(character: string): CsvRecord | null {
    this.#characters += 1;
    if (this.#characters > MAX_RECORD_CHARACTERS) {
      throw new CsvSyntaxError(this.#startLine, 'the record is too long, or a quote is not closed');
    }
    const lineBreak = character === '\n' || character === '\r';
    const secondOfPair = character === '\n' && this.#previous === '\r';
    if (lineBreak && !secondOfPair) this.#line += 1;

    if (this.#state === 'quoted') return this.#takeQuoted(character);
    if (this.#state === 'quote-in-quoted' && character === '"') return this.#takeEscapedQuote();
    this.#state = 'plain';
    if (lineBreak) return secondOfPair ? null : this.#endRecord();
    if (character === ',') this.#endCell();
    else if (character === '"' && this.#cell === '') this.#state = 'quoted';
    else this.#cell += character;
    return null;
  }

  #takeQuoted(character: string): null {
    if (character === '"') this.#state = 'quote-in-quoted';
    else this.#cell += character;
    return null;
  }

  #takeEscapedQuote(): null {
    this.#cell += '"';
    this.#state = 'quoted';
    return null;
  }

  #endCell(): void {
    this.#cells.push(this.#cell);
    this.#cell = '';
  }

  #endRecord(): CsvRecord | null {
    this.#endCell();
    const record = { line: this.#startLine, cells: this.#cells };
    this.#cells = [];
    this.#characters = 0;
    this.#startLine = this.#line;
    return record.cells.length === 1 && record.cells[0] === '' ? null : record;
  }
}
