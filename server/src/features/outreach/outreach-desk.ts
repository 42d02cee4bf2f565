import { draining, overloaded } from '#server/errors.ts';

/** How much outreach one process takes on. Times in milliseconds. */
export interface OutreachLimits {
  /** Requests that are sent at once; they share the connections to the relay. */
  readonly maxConcurrent: number;
  /** Requests that wait for their turn; the next one is refused at once. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
  /** For a request in all. */
  readonly totalMs: number;
  /** Before those are tried once more whom the relay put off. */
  readonly retryPauseMs: number;
}

/** With what is left of a minute a request is written down and answered, before proxies and spreadsheets give it up. */
const defaultLimits: OutreachLimits = {
  maxConcurrent: 4,
  maxWaiting: 8,
  maxWaitMs: 20_000,
  totalMs: 55_000,
  retryPauseMs: 2_000,
};

const RETRY_AFTER_SECONDS = 10;

/** What ends a request. */
export interface RequestEnd {
  readonly signal: AbortSignal;
  /** What is said of messages that were not begun: `deadline`, or `interrupted` when the service stops. */
  readonly reason: () => 'deadline' | 'interrupted';
}

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

/** Lets so many outreach requests be under way at once, each within a limit of time, so that no relay holds up the rest. */
export class OutreachDesk {
  readonly limits: OutreachLimits;
  readonly #stopping = new AbortController();
  #waiting: Waiter[] = [];
  #running = 0;

  constructor(limits: Partial<OutreachLimits> = {}) {
    this.limits = { ...defaultLimits, ...limits };
  }

  /** How many requests wait. */
  get depth(): number {
    return this.#waiting.length;
  }

  /** Begins the time of a request. */
  begin(): RequestEnd {
    const stopping = this.#stopping.signal;
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(this.limits.totalMs)]);
    return { signal, reason: () => (stopping.aborted ? 'interrupted' : 'deadline') };
  }

  /**
   * Does the work of a request when its turn has come.
   * @throws overloaded (503 with Retry-After) when too many wait, or the turn does not come soon
   * @throws draining (503) when the service stops
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await work();
    } finally {
      this.#leave();
    }
  }

  /** Begins no more messages: the requests under way are answered soon, those that wait are refused. */
  stop(): void {
    this.#stopping.abort();
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(draining());
  }

  async #enter(): Promise<void> {
    if (this.#stopping.signal.aborted) throw draining();
    const { maxConcurrent, maxWaiting, maxWaitMs } = this.limits;
    if (this.#running < maxConcurrent) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= maxWaiting) throw overloaded(RETRY_AFTER_SECONDS);
    const { promise, resolve: enter, reject: refuse } = Promise.withResolvers<void>();
    const waiter = { enter, refuse };
    this.#waiting.push(waiter);
    const losingPatience = setTimeout(() => {
      this.#waiting = this.#waiting.filter((other) => other !== waiter);
      refuse(overloaded(RETRY_AFTER_SECONDS));
    }, maxWaitMs);
    await promise.finally(() => clearTimeout(losingPatience));
  }

  /** Hands the turn straight to the next in line, so that nobody can slip in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next.enter();
  }
}
