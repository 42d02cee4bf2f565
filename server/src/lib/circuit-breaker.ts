/** How a call uses the store: after a failure, only a trial decides whether it works again. */
export type Attempt = 'normal' | 'trial';

export interface CircuitBreakerEvents {
  /** Called when the store fails, at most once a minute. */
  readonly onFailure: (error: unknown) => void;
  /** Called when a store whose failure was reported answers again. */
  readonly onRecovery: () => void;
}

/** After a failure, one call tries the store again after so long. */
const RETRY_AFTER_MS = 5_000;

const REPORT_INTERVAL_MS = 60_000;

/** Stops the use of a store that failed, and tries it again from time to time. */
export class CircuitBreaker {
  readonly #events: CircuitBreakerEvents;
  #triedAt = 0;
  #isOpen = false;
  #isReported = false;
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(events: CircuitBreakerEvents) {
    this.#events = events;
  }

  /** Whether the store failed. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Returns how a call may use the store; null: not at present. */
  admit(): Attempt | null {
    if (!this.#isOpen) return 'normal';
    const now = performance.now();
    if (now - this.#triedAt < RETRY_AFTER_MS) return null;
    this.#triedAt = now;
    return 'trial';
  }

  /** Records a failed call; returns whether it is the first one. */
  fail(error: unknown): boolean {
    const now = performance.now();
    const isFirst = !this.#isOpen;
    if (isFirst) this.#triedAt = now;
    this.#isOpen = true;
    if (!this.#isReported && now - this.#reportedAt >= REPORT_INTERVAL_MS) {
      this.#isReported = true;
      this.#reportedAt = now;
      this.#events.onFailure(error);
    }
    return isFirst;
  }

  /** Records a call that succeeded; one that began before the failure does not show that the store works again. */
  succeed(attempt: Attempt): void {
    if (attempt === 'normal' || !this.#isOpen) return;
    this.#isOpen = false;
    if (this.#isReported) this.#events.onRecovery();
    this.#isReported = false;
  }
}
