import type { Connection, PoolClient, Submittable } from 'pg';

import { fromDatabase } from '../database-errors.ts';

/** Blocks of rows that are passed on: large enough that each costs little, small enough that memory stays constant. */
const BLOCK_BYTES = 256 * 1024;

/** Lets every server print values in the same form, until the transaction ends. */
export const COPY_SETTINGS = `set local client_encoding = 'UTF8'; set local timezone = 'UTC'; set local datestyle = 'ISO';
  set local intervalstyle = 'postgres'; set local bytea_output = 'hex'; set local extra_float_digits = 1`;

/**
 * Runs `copy … to stdout` and passes on its rows, in blocks of whole rows. Reads on only when the last block was taken.
 * @param take what becomes of a block; when it fails, the connection is closed
 * @param report called with the number of rows so far
 * @returns the number of rows
 */
export async function copyOut(
  client: PoolClient,
  statement: string,
  take: (block: Buffer) => Promise<void>,
  report: (rows: number) => void = () => {},
): Promise<number> {
  const copy = new CopyOut(statement, take, report);
  client.query(copy);
  return copy.result();
}

/** A query of the driver, which calls its methods for each message of the server. */
class CopyOut implements Submittable {
  readonly #statement: string;
  readonly #take: (block: Buffer) => Promise<void>;
  readonly #report: (rows: number) => void;
  readonly #done = Promise.withResolvers<void>();
  #block = Buffer.allocUnsafe(BLOCK_BYTES);
  #used = 0;
  #rows = 0;
  #taken: Promise<void> = Promise.resolve();
  #takeError: { readonly cause: unknown } | null = null;

  constructor(
    statement: string,
    take: (block: Buffer) => Promise<void>,
    report: (rows: number) => void,
  ) {
    this.#statement = statement;
    this.#take = take;
    this.#report = report;
  }

  async result(): Promise<number> {
    try {
      await fromDatabase(this.#done.promise);
      await this.#taken;
    } catch (error) {
      throw this.#takeError === null ? error : this.#takeError.cause;
    }
    if (this.#takeError !== null) throw this.#takeError.cause;
    if (this.#used > 0) await this.#take(this.#block.subarray(0, this.#used));
    this.#report(this.#rows);
    return this.#rows;
  }

  submit(connection: Connection): void {
    connection.query(this.#statement);
  }

  /** Copies the row: the driver reuses its buffer. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }, { stream }: Connection): void {
    this.#reserve(chunk.length);
    this.#used += chunk.copy(this.#block, this.#used);
    this.#rows += 1;
    if (this.#used >= BLOCK_BYTES) this.#passOn(stream);
  }

  #reserve(bytes: number): void {
    const needed = this.#used + bytes;
    if (needed <= this.#block.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, 2 * this.#block.length));
    this.#block.copy(larger, 0, 0, this.#used);
    this.#block = larger;
  }

  #passOn(stream: Connection['stream']): void {
    const block = this.#block.subarray(0, this.#used);
    this.#block = Buffer.allocUnsafe(BLOCK_BYTES);
    this.#used = 0;
    stream.pause();
    this.#taken = this.#taken.then(() => this.#takeBlock(block, stream));
  }

  async #takeBlock(block: Buffer, stream: Connection['stream']): Promise<void> {
    if (this.#takeError !== null) return;
    try {
      await this.#take(block);
      this.#report(this.#rows);
      stream.resume();
    } catch (cause) {
      this.#takeError = { cause };
      // The server would send all other rows before it reads the next statement.
      stream.destroy();
    }
  }

  handleCommandComplete(): void {}

  handleError(error: Error): void {
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    this.#done.resolve();
  }
}
