import { overloaded } from '#server/errors.ts';

export interface KeyedQueueOptions {
  /** How many pieces of work may be under way together. */
  readonly maxConcurrent: number;
  /** How many may wait; the next one is refused at once. */
  readonly maxWaiting: number;
  /** Whether an error of one piece would be the error of every other; those that wait fail with it. Default: none is. */
  readonly concernsAll?: (error: unknown) => boolean;
}

/** What those who came before a failure of all have in common. */
interface Generation {
  failure: { readonly error: unknown } | null;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * Runs work one piece at a time for each key, and a bounded number of pieces in all. Whoever takes a row lock in the
 * database waits here first: a hundred callers for one row then hold one connection, not all of them.
 */
export class KeyedQueue {
  readonly #options: KeyedQueueOptions;
  readonly #tails = new Map<string, Promise<void>>();
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
   * @throws overloaded (503 with Retry-After) at once when too many wait already
   * @throws what earlier work failed with, when it concerns all
   */
  async run<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    if (this.#waiting >= this.#options.maxWaiting) throw overloaded(RETRY_AFTER_SECONDS);
    this.#waiting++;
    const generation = this.#generation;
    const earlier = this.#tails.get(key) ?? Promise.resolve();
    const { promise: done, resolve: finish } = Promise.withResolvers<void>();
    this.#tails.set(key, done);
    await earlier;
    await this.#takeTurn();
    this.#waiting--;
    try {
      if (generation.failure !== null) throw generation.failure.error;
      return await work();
    } catch (error) {
      this.#failWaiting(generation, error);
      throw error;
    } finally {
      this.#giveTurn();
      if (this.#tails.get(key) === done) this.#tails.delete(key);
      finish();
    }
  }

  #failWaiting(generation: Generation, error: unknown): void {
    if (generation.failure !== null || this.#options.concernsAll?.(error) !== true) return;
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
