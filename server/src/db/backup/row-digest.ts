import { hash } from 'node:crypto';

const LINE_BREAK = 0x0a;

/** Sums of the 32-bit words of the hashes, modulo 2^32. */
const LANES = 4;

/**
 * A digest of rows in any order, since a server may return them in another order than they were stored in: the sum of the
 * hashes of the rows. It detects errors, not forgery.
 */
export class RowDigest {
  readonly #sums = new Uint32Array(LANES);
  #rows = 0;

  /** Adds rows in the text format of COPY, each with its line break. */
  add(block: Buffer): void {
    let start = 0;
    for (let end = block.indexOf(LINE_BREAK); end !== -1; end = block.indexOf(LINE_BREAK, start)) {
      this.#addRow(block.subarray(start, end));
      start = end + 1;
    }
  }

  #addRow(row: Buffer): void {
    const digest = hash('sha256', row, 'buffer');
    for (let lane = 0; lane < LANES; lane += 1) {
      this.#sums[lane] = (this.#sums[lane] ?? 0) + digest.readUInt32LE(4 * lane);
    }
    this.#rows += 1;
  }

  /** Passes blocks on, and adds them. */
  async *observe(blocks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const block of blocks) {
      this.add(block);
      yield block;
    }
  }

  /** Returns the number of the rows and their digest. */
  digest(): string {
    return `${this.#rows} ${this.#sums.join(' ')}`;
  }
}
