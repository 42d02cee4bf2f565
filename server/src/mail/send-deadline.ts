import { classifyFailure } from './classify-failure.ts';
import type { SendResult } from './mail-transport.ts';

export interface SendLimits {
  /** Until the relay has received the whole message. */
  readonly transferMs: number;
  /** From then on, until the relay replies. */
  readonly replyMs: number;
}

/** Limits the time of sending one message, and classifies its failure by whether the relay received the whole message. */
export class SendDeadline {
  /** Aborts the sending. */
  readonly signal: AbortSignal;
  readonly #limits: SendLimits;
  readonly #callerSignal: AbortSignal | undefined;
  readonly #timeout = new AbortController();
  #timer: NodeJS.Timeout;
  #transferred = false;

  /** @param callerSignal aborts the sending too */
  constructor(limits: SendLimits, callerSignal: AbortSignal | undefined) {
    this.#limits = limits;
    this.#callerSignal = callerSignal;
    const { signal } = this.#timeout;
    this.signal = AbortSignal.any(callerSignal === undefined ? [signal] : [callerSignal, signal]);
    this.#timer = setTimeout(() => this.#timeout.abort(), limits.transferMs);
  }

  /** Starts the time limit of the reply: the relay has received the whole message. */
  startReplyTimeout(): void {
    if (this.#transferred) return;
    this.#transferred = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeout.abort(), this.#limits.replyMs);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  /** Classifies a failure; after the transfer, a failure without a reply is `unknown`. */
  classify(error: unknown): SendResult {
    const reason = this.#abortReason();
    const failure =
      reason === null
        ? classifyFailure(error)
        : { outcome: 'temporary' as const, reason, reply: null };
    const isUnconfirmed = this.#transferred && failure.reply === null;
    return isUnconfirmed ? { ...failure, outcome: 'unknown' } : failure;
  }

  #abortReason(): 'deadline' | 'timeout' | null {
    if (this.#callerSignal?.aborted === true) return 'deadline';
    return this.#timeout.signal.aborted ? 'timeout' : null;
  }
}
