const MAX_LINE_LENGTH = 200;

/** The last bytes that a program wrote: a buffer of fixed size, however much comes. */
export class Tail {
  readonly #buffer: Buffer;
  #length = 0;

  constructor(capacityBytes: number) {
    this.#buffer = Buffer.alloc(capacityBytes);
  }

  push(chunk: Buffer): void {
    const { length: capacity } = this.#buffer;
    const added = chunk.subarray(Math.max(0, chunk.length - capacity));
    const kept = Math.min(this.#length, capacity - added.length);
    this.#buffer.copyWithin(0, this.#length - kept, this.#length);
    added.copy(this.#buffer, kept);
    this.#length = kept + added.length;
  }

  /** What was written last; valid until more is. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The last lines with anything in them, each of at most 200 characters. */
  lastLines(count: number): string[] {
    const lines = this.bytes().toString('utf8').split('\n');
    const words = lines.map((line) => line.trim().slice(0, MAX_LINE_LENGTH));
    return words.filter((line) => line !== '').slice(-count);
  }
}
