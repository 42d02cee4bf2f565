import { draining } from '#server/errors.ts';
import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

/** Limits on the outreach requests of one process. */
export interface OutreachLimits {
  /** Requests that are sent at the same time; they share the connections to the relay. */
  readonly maxConcurrent: number;
  /** Requests that wait; the next one is rejected at once. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  /** From the arrival of a request to its last message. */
  readonly totalMs: number;
  /** Delay before the retry of recipients that the relay deferred. */
  readonly retryPauseMs: number;
}

/** Leaves the rest of a minute for storing and answering: the timeout of proxies and spreadsheets is a minute. */
const defaultLimits: OutreachLimits = {
  maxConcurrent: 4,
  maxWaiting: 8,
  maxWaitMs: 20_000,
  totalMs: 55_000,
  retryPauseMs: 2_000,
};

const RETRY_AFTER_SECONDS = 10;

/** The signal and the reason that end the sending of a request. */
export interface RequestEnd {
  readonly signal: AbortSignal;
  /** Stored for messages that were not started: `deadline`, or `interrupted` when the service stops. */
  readonly reason: () => 'deadline' | 'interrupted';
}

/**
 * Limits how many outreach requests are sent at the same time, and for how long, so that a slow relay blocks no other
 * requests.
 */
export class OutreachLimiter {
  readonly limits: OutreachLimits;
  readonly #limiter: ConcurrencyLimiter;
  readonly #stopping = new AbortController();
  readonly #open = new Set<Promise<unknown>>();

  constructor(limits: Partial<OutreachLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
    this.#limiter = new ConcurrencyLimiter({
      limit: this.limits.maxConcurrent,
      maxQueued: this.limits.maxWaiting,
      queueTimeoutMs: this.limits.maxWaitMs,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  get queued(): number {
    return this.#limiter.queued;
  }

  /** Handles a request, also while it waits, and starts its deadline. */
  async handle<Result>(handle: (end: RequestEnd) => Promise<Result>): Promise<Result> {
    const handling = handle(this.#startDeadline());
    this.#open.add(handling);
    try {
      return await handling;
    } finally {
      this.#open.delete(handling);
    }
  }

  #startDeadline(): RequestEnd {
    const stopping = this.#stopping.signal;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(this.limits.totalMs)]);
    return { signal, reason: () => (stopping.aborted ? 'interrupted' : 'deadline') };
  }

  /** Waits until no request is handled. @param signal ends the wait */
  async waitUntilIdle(signal: AbortSignal): Promise<void> {
    const { promise: aborted, resolve } = Promise.withResolvers<void>();
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
    while (this.#open.size > 0 && !signal.aborted) {
      await Promise.race([aborted, Promise.allSettled(this.#open)]);
    }
  }

  /**
   * Sends a request as soon as the limit allows.
   * @throws overloaded (503 with Retry-After) when too many wait, or this one waited for too long
   * @throws draining (503) when the service stops
   */
  run<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#limiter.run(work);
  }

  /** Starts no more messages: running requests are answered soon, waiting and later ones are rejected. */
  stop(): void {
    this.#stopping.abort();
    this.#limiter.close(draining);
  }
}
