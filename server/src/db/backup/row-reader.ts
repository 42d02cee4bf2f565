import { END_OF_ROWS } from './format.ts';

const LINE_BREAK = 0x0a;
const END = Buffer.from(`${END_OF_ROWS}\n`);
const BREAK_AND_END = Buffer.from(`\n${END_OF_ROWS}\n`);

/** A line that is no row: the longest is the header, with some 150 bytes for each partition. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/** Reads text as single lines, or as blocks of rows up to the line that ends them. */
export class RowReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next line without its line break; null at the end. */
  async readLine(): Promise<string | null> {
    let end = this.#rest.indexOf(LINE_BREAK);
    while (end === -1) {
      if (this.#rest.length > MAX_LINE_BYTES) throw new Error('a line is too long');
      if (!(await this.#readMore())) return this.#endWithin('line');
      end = this.#rest.indexOf(LINE_BREAK);
    }
    const line = this.#rest.toString('utf8', 0, end);
    this.#rest = this.#rest.subarray(end + 1);
    return line;
  }

  /** Returns the next rows, each with its line break; null after the line that ends them. */
  async readRows(): Promise<Buffer | null> {
    for (;;) {
      if (this.#rest.subarray(0, END.length).equals(END)) {
        this.#rest = this.#rest.subarray(END.length);
        return null;
      }
      const end = this.#findEndOfBlock();
      if (end > 0) {
        const block = this.#rest.subarray(0, end);
        this.#rest = this.#rest.subarray(end);
        return block;
      }
      if (!(await this.#readMore())) throw new Error('it ends too early');
    }
  }

  /** Returns where the rows end or, if they go on, the last complete row. */
  #findEndOfBlock(): number {
    const end = this.#rest.indexOf(BREAK_AND_END);
    return end === -1 ? this.#rest.lastIndexOf(LINE_BREAK) + 1 : end + 1;
  }

  async #readMore(): Promise<boolean> {
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#rest = this.#rest.length === 0 ? next.value : Buffer.concat([this.#rest, next.value]);
    return true;
  }

  #endWithin(part: string): null {
    if (this.#rest.length === 0) return null;
    throw new Error(`it ends within a ${part}`);
  }
}
