import { BoundedTable, type ChangeCounter, type Counters, type CounterState } from './counters.ts';

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

  exchange({ kind, client, expected, next }: Omit<Exchange, 'keepMs'>): ExchangeOutcome {
    const current = this.#values.get(kind, client);
    if (current !== expected) return { current };
    if (next !== null) this.#values.set(kind, client, next);
    return true;
  }
}

export interface SharedCountersOptions {
  readonly store: CounterStore;
  /** Counts while the store does not answer. */
  readonly fallback: Counters;
  /** Called when the store fails; the fallback counts from then on. */
  readonly onFailure: (error: unknown) => void;
  /** Called when the store answers again. */
  readonly onRecovery: () => void;
}

/** After a failure, one call tries the store again after so long; the others use the fallback meanwhile. */
const RETRY_AFTER_MS = 5_000;

/** Each round, one of the processes that change a counter succeeds. */
const MAX_ATTEMPTS = 50;

interface WaitingCall {
  readonly change: ChangeCounter<() => void>;
  /** Counts in the fallback. */
  readonly giveUp: () => void;
}

/**
 * Counters that several processes share. A change is computed here, from the copy that was read last, and stored if that copy
 * is still the stored value; else it is computed again from that one. So the limits are written once, in this language, and a
 * store only has to compare and replace a value. Calls for one counter that arrive meanwhile are stored together.
 */
export class SharedCounters implements Counters {
  readonly #options: SharedCountersOptions;
  readonly #copies = new BoundedTable<string>();
  readonly #waiting = new Map<string, WaitingCall[]>();
  #failedAt: number | null = null;

  constructor(options: SharedCountersOptions) {
    this.#options = options;
  }

  /** Whether the fallback counts. */
  get hasFailed(): boolean {
    return this.#failedAt !== null;
  }

  async read(kind: string, client: string): Promise<CounterState | null> {
    const { store, fallback } = this.#options;
    if (!this.#mayTry()) return fallback.read(kind, client);
    const expected = this.#copies.get(kind, client);
    try {
      const outcome = await store.exchange({ kind, client, expected, next: null, keepMs: 0 });
      this.#succeeded();
      if (outcome === true) return parseState(expected);
      if (outcome.current !== null) this.#copies.set(kind, client, outcome.current);
      return parseState(outcome.current);
    } catch (error) {
      this.#failed(error);
      return fallback.read(kind, client);
    }
  }

  update<Result>(kind: string, client: string, change: ChangeCounter<Result>): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const call: WaitingCall = {
      change(state) {
        const { result, ...rest } = change(state);
        return { ...rest, result: () => resolve(result) };
      },
      giveUp: () => void this.#options.fallback.update(kind, client, change).then(resolve, reject),
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
    try {
      if (!this.#mayTry()) throw new Error('the store failed a moment ago');
      const results = await this.#change(kind, client, calls);
      this.#succeeded();
      for (const settle of results) settle();
    } catch (error) {
      this.#failed(error);
      for (const { giveUp } of calls) giveUp();
    }
  }

  /** Stores the changes of all calls, and returns their results. */
  async #change(
    kind: string,
    client: string,
    calls: readonly WaitingCall[],
  ): Promise<readonly (() => void)[]> {
    let expected = this.#copies.get(kind, client);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const { next, keepMs, results } = applyAll(calls, expected);
      const outcome = await this.#options.store.exchange({ kind, client, expected, next, keepMs });
      if (outcome === true) {
        this.#copies.set(kind, client, next);
        return results;
      }
      expected = outcome.current;
    }
    throw new Error(`a counter changed during each of ${MAX_ATTEMPTS} attempts`);
  }

  /** Whether to use the store: a call after a failure tries it for all others. */
  #mayTry(): boolean {
    const now = performance.now();
    if (this.#failedAt === null) return true;
    if (now - this.#failedAt < RETRY_AFTER_MS) return false;
    this.#failedAt = now;
    return true;
  }

  #failed(error: unknown): void {
    if (this.#failedAt !== null) return;
    this.#failedAt = performance.now();
    this.#options.onFailure(error);
  }

  #succeeded(): void {
    if (this.#failedAt === null) return;
    this.#failedAt = null;
    this.#options.onRecovery();
  }
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
