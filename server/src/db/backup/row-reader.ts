import { END_OF_ROWS } from './format.ts';
import { UnreadText } from './unread-text.ts';

const END = Buffer.from(`${END_OF_ROWS}\n`);
const BREAK_AND_END = Buffer.from(`\n${END_OF_ROWS}\n`);

const MIB = 1024 * 1024;

/** A line that is no row: the longest is the header, with some 150 bytes for each partition. */
const MAX_LINE_MIB = 16;

/** The longest rows contain the body of a request, of at most 8 MiB. */
const MAX_ROW_MIB = 64;

/** Reads text as single lines, or as blocks of rows up to the line that ends them. */
export class RowReader {
  readonly #source: AsyncIterator<Buffer>;
  readonly #unread = new UnreadText();

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /**
   * Returns the next line without its line break; null at the end.
   * @throws Error for a line of more than 16 MiB, and when the text ends within a line
   */
  async readLine(): Promise<string | null> {
    for (;;) {
      const length = this.#unread.findFirstLine();
      if (length > 0) return this.#unread.take(length).toString('utf8', 0, length - 1);
      if (!(await this.#readMore('line', MAX_LINE_MIB))) return this.#endWithin('line');
    }
  }

  /**
   * Returns the next rows, each with its line break; null after the line that ends them.
   * @throws Error for a row of more than 64 MiB, and when that line is missing
   */
  async readRows(): Promise<Buffer | null> {
    for (;;) {
      if (this.#unread.startsWith(END)) {
        this.#unread.take(END.length);
        return null;
      }
      const length = this.#unread.findLines(BREAK_AND_END);
      if (length > 0) return this.#unread.take(length);
      if (!(await this.#readMore('row', MAX_ROW_MIB))) throw new Error('it ends too early');
    }
  }

  /** Returns false at the end. @param part what is being read and has no end yet */
  async #readMore(part: string, maxMib: number): Promise<boolean> {
    if (this.#unread.length > maxMib * MIB) {
      throw new Error(`a ${part} is longer than ${maxMib} MiB`);
    }
    const next = await this.#source.next();
    if (next.done === true) return false;
    this.#unread.append(next.value);
    return true;
  }

  #endWithin(part: string): null {
    if (this.#unread.length === 0) return null;
    throw new Error(`it ends within a ${part}`);
  }
}
