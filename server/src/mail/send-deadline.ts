import { classifyFailure } from './classify-failure.ts';
import type { FailedResult, SendResult } from './mail-transport.ts';

/** In milliseconds. */
export interface PatienceLimits {
  readonly handOverMs: number;
  readonly answerMs: number;
}

/** Limits the wait for a message, and says what a failure means: that depends on whether the relay had all of it. */
export class Patience {
  /** Ends the sending. */
  readonly signal: AbortSignal;
  readonly #limits: PatienceLimits;
  readonly #asked: AbortSignal | undefined;
  readonly #timeout = new AbortController();
  #timer: NodeJS.Timeout;
  #handedOver = false;

  /** @param asked ends the sending, too */
  constructor(limits: PatienceLimits, asked: AbortSignal | undefined) {
    this.#limits = limits;
    this.#asked = asked;
    const { signal } = this.#timeout;
    this.signal = AbortSignal.any(asked === undefined ? [signal] : [asked, signal]);
    this.#timer = setTimeout(() => this.#timeout.abort(), limits.handOverMs);
  }

  /** The relay has all of the message. */
  expectAnswer(): void {
    if (this.#handedOver) return;
    this.#handedOver = true;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#timeout.abort(), this.#limits.answerMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }

  /** What a failure means. The relay's answer says it; without one, the relay may have taken the message. */
  explain(error: unknown): SendResult {
    const failure = this.#explainEnd() ?? classifyFailure(error);
    const unanswered = this.#handedOver && failure.answer === null;
    return unanswered ? { ...failure, outcome: 'unknown' } : failure;
  }

  #explainEnd(): FailedResult | null {
    if (this.#asked?.aborted === true) return toTemporary('deadline');
    return this.#timeout.signal.aborted ? toTemporary('timeout') : null;
  }
}

function toTemporary(reason: string): FailedResult {
  return { outcome: 'temporary', reason, answer: null };
}
