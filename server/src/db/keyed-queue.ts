import { overloaded } from '#server/errors.ts';

export interface KeyedQueueOptions {
  /** How many pieces of work may be under way together. */
  readonly maxConcurrent: number;
  /** How many may wait; the next one is refused at once. */
  readonly maxWaiting: number;
  /** How many of one key may be in line, so that one key does not take all the places. */
  readonly maxPerKey: number;
  /** Whether an error of one piece would hit every other too, so that those that wait fail with it. Default: none would. */
  readonly concernsAll?: (error: unknown) => boolean | Promise<boolean>;
  /** The same for those that wait in line for its key. Default: none would. */
  readonly concernsKey?: (error: unknown) => boolean;
}

/** Those who came before the same failure of everything share one. */
interface Generation {
  failure: { readonly error: unknown } | null;
}

/** The pieces of work of one key. A line that failed is closed: whoever comes later stands in a new one. */
interface Line extends Generation {
  length: number;
  end: Promise<void>;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Runs work one piece at a time for each key, and a bounded number of pieces in all. Work that takes a row lock in the
 * database waits here first: then a hundred callers for one row hold one connection, not a hundred.
 */
export class KeyedQueue {
  readonly #options: KeyedQueueOptions;
  readonly #lines = new Map<string, Line>();
  readonly #waitingForTurn: (() => void)[] = [];
  #running = 0;
  #waiting = 0;
  #generation: Generation = { failure: null };

  constructor(options: KeyedQueueOptions) {
    this.#options = options;
  }

  /** How many pieces of work wait. */
  get depth(): number {
    return this.#waiting;
  }

  /**
   * Runs work after all earlier work of the same key.
   * @throws overloaded (503 with Retry-After) at once when too many wait already, in all or of this key
   * @throws what earlier work failed with, when it concerns all or this key
   */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const { line, earlier, finish } = this.#standInLine(key);
    const generation = this.#generation;
    await earlier;
    await this.#takeTurn();
    this.#waiting--;
    try {
      const failure = generation.failure ?? line.failure;
      if (failure !== null) throw failure.error;
      return await work();
    } catch (error) {
      this.#failLine(key, line, error);
      await this.#failWaiting(generation, error);
      throw error;
    } finally {
      this.#giveTurn();
      if (--line.length === 0 && this.#lines.get(key) === line) this.#lines.delete(key);
      finish();
    }
  }

  /** Takes the last place in the line of a key, which is refused at once when there is none. */
  #standInLine(key: string): { line: Line; earlier: Promise<void>; finish: () => void } {
    const { maxWaiting, maxPerKey } = this.#options;
    const line = this.#lines.get(key) ?? { length: 0, end: Promise.resolve(), failure: null };
    if (this.#waiting >= maxWaiting || line.length >= maxPerKey) {
      throw overloaded(RETRY_AFTER_SECONDS);
    }
    this.#waiting++;
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    const earlier = line.end;
    line.end = end;
    line.length++;
    this.#lines.set(key, line);
    return { line, earlier, finish };
  }

  #failLine(key: string, line: Line, error: unknown): void {
    if (line.failure !== null || this.#options.concernsKey?.(error) !== true) return;
    line.failure = { error };
    this.#lines.delete(key);
  }

  async #failWaiting(generation: Generation, error: unknown): Promise<void> {
    if (generation.failure !== null || (await this.#options.concernsAll?.(error)) !== true) return;
    // Another piece may have said so in the meantime.
    if (generation.failure !== null) return;
    generation.failure = { error };
    this.#generation = { failure: null };
  }

  async #takeTurn(): Promise<void> {
    if (this.#running < this.#options.maxConcurrent) {
      this.#running++;
      return;
    }
    await new Promise<void>((resolve) => this.#waitingForTurn.push(resolve));
  }

  /** Hands the turn straight to the next in line, so that nobody can slip in between. */
  #giveTurn(): void {
    const next = this.#waitingForTurn.shift();
    if (next === undefined) this.#running--;
    else next();
  }
}
