import { connect, type Socket } from 'node:net';

import { NO_ANSWER, TIMEOUT, CUT } from './operations.ts';

/** Where the client closes the connection of a request, as a fault. */
export const CUT_PHASES = [
  'within the head',
  'within the body',
  'before the answer',
  'within the answer',
] as const;
export type CutPhase = (typeof CUT_PHASES)[number];

/** A request as bytes, in two parts. */
export interface RequestBytes {
  readonly head: string;
  readonly body: string;
}

/** An answer, or the reason why there is none. */
export interface RawAnswer {
  /** A status, or one of the outcomes without a status. */
  readonly outcome: number | typeof NO_ANSWER | typeof TIMEOUT | typeof CUT;
  readonly text: string;
  /** Whether the service received the whole request. */
  readonly isReceived: boolean;
}

/** A request takes longer only if the service hangs. */
const TIMEOUT_MS = 30_000;

/**
 * One connection with one request at a time, on a plain socket: the load shares the processors with the service, and an HTTP
 * library would take most of them. Answers must have a Content-Length.
 */
export class HttpConnection {
  readonly #socket: Socket;
  #isOpen = false;
  #isClosed = false;
  #received = '';
  #pending: { resolve: (answer: RawAnswer) => void; cut: CutPhase | null } | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** When the last request ended; `performance.now()`. */
  usedAt = 0;

  constructor(target: { readonly host: string; readonly port: number }) {
    this.#socket = connect({ ...target, noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('connect', () => (this.#isOpen = true));
    this.#socket.on('data', (chunk: string) => this.#receive(chunk));
    // 'close' follows every error.
    this.#socket.on('error', () => {});
    this.#socket.on('close', () => this.#close(NO_ANSWER));
  }

  get isUsable(): boolean {
    return !this.#isClosed;
  }

  /** Sends a request and waits for its answer. Never rejects. @param cut where to close the connection; null: nowhere */
  request({ head, body }: RequestBytes, cut: CutPhase | null): Promise<RawAnswer> {
    return new Promise((resolve) => {
      this.#pending = { resolve, cut };
      this.#timer = setTimeout(() => this.#close(TIMEOUT), TIMEOUT_MS);
      if (this.#isClosed) return this.#close(NO_ANSWER);
      const text = head + body;
      if (cut === null || cut === 'within the answer') this.#socket.write(text);
      else this.#socket.write(text.slice(0, lengthUntil(cut, head, text)), () => this.#close(CUT));
    });
  }

  destroy(): void {
    this.#close(NO_ANSWER);
  }

  #receive(chunk: string): void {
    if (this.#pending?.cut === 'within the answer') return this.#close(CUT);
    this.#received += chunk;
    const headEnd = this.#received.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#received.slice(0, headEnd);
    const length = Number(/\r\ncontent-length: (\d+)/iu.exec(head)?.[1] ?? 0);
    if (this.#received.length < headEnd + 4 + length) return;
    const text = Buffer.from(this.#received.slice(headEnd + 4), 'latin1').toString('utf8');
    this.#received = '';
    if (/\r\nconnection: close/iu.test(head)) this.#isClosed = true;
    this.#settle({ outcome: Number(head.slice(9, 12)), text, isReceived: true });
    if (this.#isClosed) this.#socket.destroy();
  }

  #close(outcome: typeof NO_ANSWER | typeof TIMEOUT | typeof CUT): void {
    this.#isClosed = true;
    this.#socket.destroy();
    const cut = this.#pending?.cut ?? null;
    const isIncomplete = cut === 'within the head' || cut === 'within the body';
    this.#settle({ outcome, text: '', isReceived: this.#isOpen && !isIncomplete });
  }

  #settle(answer: RawAnswer): void {
    clearTimeout(this.#timer);
    this.usedAt = performance.now();
    const pending = this.#pending;
    this.#pending = null;
    pending?.resolve(answer);
  }
}

/** Returns how much of a request is sent. */
function lengthUntil(cut: CutPhase, head: string, text: string): number {
  if (cut === 'within the head') return Math.floor(head.length / 2);
  return cut === 'within the body' ? Math.floor((head.length + text.length) / 2) : text.length;
}
