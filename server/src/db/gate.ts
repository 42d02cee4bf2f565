import { overloaded } from '#server/errors.ts';

import { isDatabaseSilence } from './database-errors.ts';

export interface GateOptions {
  /** How many pieces of work may be under way together: the connections that they may hold. */
  readonly maxConcurrent: number;
  /** How many may wait; the next one is refused at once. */
  readonly maxWaiting: number;
  /** Whether an error means that the whole database says nothing. Default: by the error alone. */
  readonly isSilent?: (error: unknown) => boolean | Promise<boolean>;
}

interface Waiter {
  readonly enter: () => void;
  readonly refuse: (error: unknown) => void;
}

const RETRY_AFTER_SECONDS = 1;

/**
 * What all work passes that takes a connection and does not travel in a batch. The pool's own queue has no end and serves
 * whoever came first: a flood of listings would be all that a validation waits for. Here the flood waits, as far as it
 * is let in at all, and some connections are never taken by it.
 *
 * Work inside must not pass the gate again, or it may wait for itself.
 */
export class Gate {
  readonly #options: GateOptions;
  #waiting: Waiter[] = [];
  #running = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** How many pieces of work wait. */
  get depth(): number {
    return this.#waiting.length;
  }

  /**
   * Runs work when its turn has come, in the order of asking.
   * @throws overloaded (503 with Retry-After) at once when too many wait already
   * @throws what other work waited in vain for, when that is a database that says nothing: nobody waits for it in turn
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await work();
    } catch (error) {
      const { isSilent = isDatabaseSilence } = this.#options;
      if (await isSilent(error)) this.#refuseWaiting(error);
      throw error;
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < this.#options.maxConcurrent) {
      this.#running++;
      return;
    }
    if (this.#waiting.length >= this.#options.maxWaiting) throw overloaded(RETRY_AFTER_SECONDS);
    await new Promise<void>((enter, refuse) => this.#waiting.push({ enter, refuse }));
  }

  /** Hands the turn straight to the next in line, so that nobody can slip in between. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running--;
    else next.enter();
  }

  #refuseWaiting(error: unknown): void {
    for (const waiter of this.#waiting.splice(0)) waiter.refuse(error);
  }
}
