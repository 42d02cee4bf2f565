import { BoundedTable } from './bounded-table.ts';
import { CircuitBreaker, type CircuitBreakerEvents } from './circuit-breaker.ts';
import type { ChangeCounter, Counters, CounterState } from './counters.ts';

/** A request to replace a stored value. */
export interface Exchange {
  readonly kind: string;
  readonly client: string;
  /** The value that is expected there; null: none. */
  readonly expected: string | null;
  /** The new value; null: the stored one is only compared. */
  readonly next: string | null;
  readonly keepMs: number;
}

/** Whether the expected value was there, so that the new one is stored; else what is there. */
export type ExchangeOutcome = true | { readonly current: string | null };

/** Values that several processes share. */
export interface CounterStore {
  /** Compares and replaces a value in one step. @throws {Error} when the store does not answer in time */
  exchange(exchange: Exchange): Promise<ExchangeOutcome>;
}

/** The values of one process that other processes share over it. */
export class LocalStore {
  readonly #values = new BoundedTable<string>();

  /** @throws {Error} when there are too many kinds */
  exchange({ kind, client, expected, next }: Omit<Exchange, 'keepMs'>): ExchangeOutcome {
    const current = this.#values.get(kind, client);
    if (current !== expected) return { current };
    if (next !== null) this.#values.set(kind, client, next);
    return true;
  }
}

export interface SharedCountersOptions extends CircuitBreakerEvents {
  readonly store: CounterStore;
  /** Returns the counters that count while the store does not answer; called at each failure. */
  readonly createFallback: () => Counters;
}

/** Changes of other processes can repeat a call so long; each time, one of them succeeds. */
const CONTENTION_LIMIT_MS = 1_000;

const LONGEST_BACKOFF_MS = 32;

interface WaitingCall {
  readonly change: ChangeCounter<() => void>;
  /** Counts in the fallback. @param copy the last known state in the store */
  readonly useFallback: (copy: CounterState | null) => void;
}

/**
 * Counters that several processes share. A change is computed here, from the copy that was read last, and stored if that copy
 * is still the stored value; else it is computed again from that one. So the limits are written once, in this language, and a
 * store only has to compare and replace a value. Calls for one counter that arrive during an exchange are stored together.
 */
export class SharedCounters implements Counters {
  readonly #options: SharedCountersOptions;
  readonly #breaker: CircuitBreaker;
  readonly #copies = new BoundedTable<string>();
  readonly #waiting = new Map<string, WaitingCall[]>();
  #fallback: Counters;

  constructor(options: SharedCountersOptions) {
    this.#options = options;
    this.#breaker = new CircuitBreaker(options);
    this.#fallback = options.createFallback();
  }

  /** Whether the fallback counts. */
  get hasFailed(): boolean {
    return this.#breaker.isOpen;
  }

  async read(kind: string, client: string): Promise<CounterState | null> {
    const expected = this.#copies.get(kind, client);
    const attempt = this.#breaker.admit();
    if (attempt === null) return this.#readFallback(kind, client);
    try {
      const exchange = { kind, client, expected, next: null, keepMs: 0 };
      const outcome = await this.#options.store.exchange(exchange);
      this.#breaker.succeed(attempt);
      if (outcome === true) return parseState(expected);
      this.#copies.set(kind, client, outcome.current);
      return parseState(outcome.current);
    } catch (error) {
      this.#fail(error);
      return this.#readFallback(kind, client);
    }
  }

  update<Result>(kind: string, client: string, change: ChangeCounter<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const call: WaitingCall = {
      change(state) {
        const { result, ...rest } = change(state);
        return { ...rest, result: () => resolve(result) };
      },
      useFallback: (copy) =>
        void this.#fallback
          .update(kind, client, (state) => change(state ?? copy))
          .then(resolve, reject),
    };
    const key = `${kind} ${client}`;
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) {
      this.#waiting.set(key, [call]);
      void this.#run(kind, client, key);
    } else waiting.push(call);
    return promise;
  }

  async #run(kind: string, client: string, key: string): Promise<void> {
    for (;;) {
      const calls = this.#waiting.get(key) ?? [];
      if (calls.length === 0) break;
      this.#waiting.set(key, []);
      await this.#store(kind, client, calls);
    }
    this.#waiting.delete(key);
  }

  async #store(kind: string, client: string, calls: readonly WaitingCall[]): Promise<void> {
    const attempt = this.#breaker.admit();
    if (attempt === null) {
      this.#useFallback(kind, client, calls);
      return;
    }
    try {
      const results = await this.#change(kind, client, calls);
      this.#breaker.succeed(attempt);
      for (const settle of results) settle();
    } catch (error) {
      this.#fail(error);
      this.#useFallback(kind, client, calls);
    }
  }

  /**
   * Stores the changes of all calls, and returns their results. While other processes change the counter all the time, the
   * results are those of its last known state, and the changes are not stored: the store did not fail.
   */
  async #change(
    kind: string,
    client: string,
    calls: readonly WaitingCall[],
  ): Promise<readonly (() => void)[]> {
    const startedAt = performance.now();
    for (let attempt = 1; ; attempt++) {
      const expected = this.#copies.get(kind, client);
      const { next, keepMs, results } = applyAll(calls, expected);
      const outcome = await this.#options.store.exchange({ kind, client, expected, next, keepMs });
      if (outcome === true) {
        this.#copies.set(kind, client, next);
        return results;
      }
      this.#copies.set(kind, client, outcome.current);
      if (performance.now() - startedAt >= CONTENTION_LIMIT_MS) {
        return applyAll(calls, outcome.current).results;
      }
      if (attempt > 1) await backOff(attempt);
    }
  }

  async #readFallback(kind: string, client: string): Promise<CounterState | null> {
    const state = await this.#fallback.read(kind, client);
    return state ?? parseState(this.#copies.get(kind, client));
  }

  #useFallback(kind: string, client: string, calls: readonly WaitingCall[]): void {
    const copy = parseState(this.#copies.get(kind, client));
    for (const { useFallback } of calls) useFallback(copy);
  }

  /** What an earlier fallback counted is older than the copies. */
  #fail(error: unknown): void {
    if (this.#breaker.fail(error)) this.#fallback = this.#options.createFallback();
  }
}

/** Waits for a random time, so that processes that change one counter do not repeat at the same time. */
async function backOff(attempt: number): Promise<void> {
  const ms = Math.random() * Math.min(2 ** attempt, LONGEST_BACKOFF_MS);
  await new Promise((resolve) => setTimeout(resolve, ms));
}

function applyAll(calls: readonly WaitingCall[], expected: string | null) {
  let state = parseState(expected);
  let keepMs = 0;
  const results: (() => void)[] = [];
  for (const { change } of calls) {
    const changed = change(state);
    state = changed.state;
    keepMs = Math.max(keepMs, changed.keepMs);
    results.push(changed.result);
  }
  return { next: (state ?? []).join(' '), keepMs, results };
}

/** A value that this program did not write counts as none. */
function parseState(text: string | null): CounterState | null {
  if (text === null) return null;
  const numbers = text === '' ? [] : text.split(' ').map(Number);
  return numbers.every(Number.isFinite) ? numbers : null;
}
