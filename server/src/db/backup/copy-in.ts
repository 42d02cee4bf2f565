import type { Connection, PoolClient, Submittable } from 'pg';

import { fromDatabase } from '../database-errors.ts';

/** Messages to the server (PostgreSQL, chapter "Message Formats"). */
const COPY_DATA = 0x64;
const COPY_DONE = 0x63;
const COPY_FAIL = 0x66;

/**
 * Runs `copy … from stdin` with rows in the text format, and reads them only as fast as the server takes them.
 * @returns the number of rows
 * @throws the error of the server, or of `rows`; the connection can be used after it
 */
export async function copyIn(
  client: PoolClient,
  statement: string,
  rows: AsyncIterable<Buffer>,
): Promise<number> {
  const copy = new CopyIn(statement, rows);
  client.query(copy);
  return copy.result();
}

/** A query of the driver, which calls its methods for each message of the server. */
class CopyIn implements Submittable {
  readonly #statement: string;
  readonly #source: AsyncIterable<Buffer>;
  readonly #done = Promise.withResolvers<void>();
  #sent: Promise<void> = Promise.resolve();
  #sourceError: { readonly cause: unknown } | null = null;
  #hasEnded = false;
  #rows = 0;

  constructor(statement: string, source: AsyncIterable<Buffer>) {
    this.#statement = statement;
    this.#source = source;
  }

  async result(): Promise<number> {
    try {
      await fromDatabase(this.#done.promise);
    } catch (error) {
      await this.#sent;
      throw this.#sourceError === null ? error : this.#sourceError.cause;
    }
    return this.#rows;
  }

  submit(connection: Connection): void {
    connection.query(this.#statement);
  }

  handleCopyInResponse({ stream }: Connection): void {
    this.#sent = this.#send(stream);
  }

  async #send(stream: Connection['stream']): Promise<void> {
    try {
      for await (const block of this.#source) {
        if (this.#hasEnded) return;
        if (!stream.write(toMessage(COPY_DATA, block))) await untilDrained(stream);
      }
      stream.write(toMessage(COPY_DONE));
    } catch (cause) {
      this.#sourceError = { cause };
      stream.write(toMessage(COPY_FAIL, Buffer.from('the rows cannot be read\0')));
    }
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = Number(/^COPY (\d+)$/u.exec(text)?.[1]);
  }

  handleError(error: Error): void {
    this.#hasEnded = true;
    this.#done.reject(error);
  }

  handleReadyForQuery(): void {
    this.#hasEnded = true;
    this.#done.resolve();
  }
}

function toMessage(type: number, content: Buffer = Buffer.alloc(0)): Buffer {
  const message = Buffer.allocUnsafe(5 + content.length);
  message.writeUInt8(type, 0);
  message.writeUInt32BE(4 + content.length, 1);
  content.copy(message, 5);
  return message;
}

/** Waits until a stream takes more, or closes. */
function untilDrained(stream: Connection['stream']): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => {
    stream.off('drain', done).off('close', done);
    resolve();
  };
  stream.on('drain', done).on('close', done);
  return stream.closed ? Promise.resolve() : promise;
}
