const LINE_BREAK = 0x0a;

/**
 * The unread part of a text that arrives in chunks. Each byte is searched once for a line break, and copied a constant number of
 * times, however long a line is.
 */
export class UnreadText {
  /** The unread text is the part between two positions. What was taken is before it, and is never overwritten. */
  #buffer: Buffer = Buffer.alloc(0);
  #start = 0;
  #end = 0;
  /** Between the start and this position is no line break. */
  #searched = 0;

  get length(): number {
    return this.#end - this.#start;
  }

  startsWith(bytes: Buffer): boolean {
    const end = Math.min(this.#start + bytes.length, this.#end);
    return this.#buffer.subarray(this.#start, end).equals(bytes);
  }

  /** Returns the length up to and with the first line break; 0 without one. */
  findFirstLine(): number {
    return this.#toLength(this.#unsearched().indexOf(LINE_BREAK));
  }

  /** Returns the length up to and with the line break before the first of these bytes, else up to the last line break; 0 without one. */
  findLines(end: Buffer): number {
    const unsearched = this.#unsearched();
    const found = unsearched.indexOf(end);
    return this.#toLength(found === -1 ? unsearched.lastIndexOf(LINE_BREAK) : found);
  }

  /** Removes text from the start, and returns it. */
  take(length: number): Buffer {
    const taken = this.#buffer.subarray(this.#start, this.#start + length);
    this.#start += length;
    this.#searched = this.#start;
    return taken;
  }

  append(chunk: Buffer): void {
    if (this.length === 0) {
      this.#buffer = chunk;
      this.#start = 0;
      this.#end = chunk.length;
      this.#searched = 0;
      return;
    }
    this.#reserve(chunk.length);
    this.#end += chunk.copy(this.#buffer, this.#end);
  }

  #unsearched(): Buffer {
    return this.#buffer.subarray(this.#searched, this.#end);
  }

  /** @param found the position of a line break in the unsearched text, or -1 */
  #toLength(found: number): number {
    if (found !== -1) return this.#searched + found + 1 - this.#start;
    this.#searched = this.#end;
    return 0;
  }

  /** Doubles the buffer, so that a long line is copied a constant number of times. */
  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(2 * Math.max(this.length, bytes));
    this.#buffer.copy(larger, 0, this.#start, this.#end);
    this.#buffer = larger;
    this.#searched -= this.#start;
    this.#end -= this.#start;
    this.#start = 0;
  }
}
