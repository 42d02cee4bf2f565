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
 * All work that needs a connection and does not travel in a batch goes through here. The pool's own queue is unbounded
 * and first come, first served: behind a flood of listings, a validation would wait for all of them. Here the flood
 * waits, as far as it is let in at all, and some connections are out of its reach.
 *
 * Work inside must not go through the gate again, or it may wait for itself.
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
   * Runs work when its turn has come, first come, first served.
   * @throws overloaded (503 with Retry-After) at once when too many wait already
   * @throws the error of other work that waited in vain for a silent database: nobody waits for it one after the other
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
