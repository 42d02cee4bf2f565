import { startReplyTimer } from '#server/lib/reply-timer.ts';
import { isRecord, messageOf } from '#server/lib/unknown-values.ts';

/** Handles requests and notices of the other process, by their kind. */
export type Handlers = Readonly<Record<string, (payload: unknown) => unknown>>;

const DEFAULT_TIMEOUT_MS = 5_000;

interface PendingRequest {
  readonly resolve: (payload: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly cancelTimer: () => void;
}

/**
 * Requests and notices between the supervisor and a worker over Node's IPC channel. Both may run different versions of this
 * program during a rolling restart: an unknown kind is answered with an error, and every payload is checked by its reader.
 */
export class Channel {
  readonly #send: (message: object) => void;
  readonly #handlers: Handlers;
  readonly #pending = new Map<number, PendingRequest>();
  #lastId = 0;
  #received = 0;

  /** @param send must not throw when the other process has ended */
  constructor(send: (message: object) => void, handlers: Handlers) {
    this.#send = send;
    this.#handlers = handlers;
  }

  /** The number of messages that arrived from the other process. */
  get received(): number {
    return this.#received;
  }

  /** Sends a notice, which has no answer. */
  notify(kind: string, payload: unknown = null): void {
    this.#send({ latchkey: kind, payload });
  }

  /**
   * Sends a request and returns the answer.
   * @throws {Error} when the other process ends, does not answer in time, or answers with an error
   */
  request(kind: string, payload: unknown = null, timeoutMs = DEFAULT_TIMEOUT_MS): Promise<unknown> {
    const id = ++this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const onTimeout = (): void =>
      this.#settle(id)?.reject(new Error(`no answer to ${kind} in ${timeoutMs} ms`));
    const cancelTimer = startReplyTimer(timeoutMs, onTimeout);
    this.#pending.set(id, { resolve, reject, cancelTimer });
    this.#send({ latchkey: kind, id, payload });
    return promise;
  }

  /** Handles a message of the other process; ignores those of other modules. */
  receive(message: unknown): void {
    if (!isRecord(message)) return;
    const { latchkey: kind, id, answer, payload, error } = message;
    this.#received++;
    if (typeof answer === 'number') {
      const request = this.#settle(answer);
      if (typeof error === 'string') request?.reject(new Error(error));
      else request?.resolve(payload);
    } else if (typeof kind === 'string') {
      void this.#handle(kind, typeof id === 'number' ? id : null, payload);
    }
  }

  /** Rejects the open requests, after the other process has ended. */
  close(): void {
    for (const id of this.#pending.keys()) {
      this.#settle(id)?.reject(new Error('the other process ended'));
    }
  }

  async #handle(kind: string, id: number | null, payload: unknown): Promise<void> {
    try {
      const handler = Object.hasOwn(this.#handlers, kind) ? this.#handlers[kind] : undefined;
      if (handler === undefined) throw new Error(`unknown message ${kind}`);
      const result = await handler(payload);
      if (id !== null) this.#send({ answer: id, payload: result });
    } catch (error) {
      if (id !== null) this.#send({ answer: id, error: messageOf(error) });
    }
  }

  #settle(id: number): PendingRequest | undefined {
    const request = this.#pending.get(id);
    request?.cancelTimer();
    this.#pending.delete(id);
    return request;
  }
}
