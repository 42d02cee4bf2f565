import type { Context } from '#server/context.ts';

/** Work that is done again and again. */
export interface TaskPlan {
  /** The first time, after the start. */
  readonly firstMs: number;
  /** From the end of one time to the next. */
  readonly everyMs: number;
  /** Gives the pause until the next time, in milliseconds, where it is to be another. */
  readonly work: (signal: AbortSignal) => Promise<number | void>;
  /** What is said when it fails, as a clause: `events cannot be …`. */
  readonly failure: string;
}

/**
 * Does one thing again and again, never twice at once, until it is stopped. A failure is told once, and its end; the next
 * time comes all the same.
 */
export class RepeatingTask {
  readonly #log: Pick<Context['log'], 'info' | 'warn'>;
  readonly #plan: TaskPlan;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(log: Pick<Context['log'], 'info' | 'warn'>, plan: TaskPlan) {
    this.#log = log;
    this.#plan = plan;
  }

  start(): void {
    this.#wait(this.#plan.firstMs);
  }

  /** Tells the work under way to end, and waits until it has. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await this.#running;
  }

  #wait(pauseMs: number): void {
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => {
      this.#running = this.#work().then((nextMs) => this.#wait(nextMs));
    }, pauseMs);
  }

  /** Never throws. */
  async #work(): Promise<number> {
    const { everyMs, failure, work } = this.#plan;
    try {
      const nextMs = await work(this.#stopping.signal);
      if (this.#failing) this.#log.info(`no longer: ${failure}`);
      this.#failing = false;
      return nextMs ?? everyMs;
    } catch (error) {
      // What is cut short by the stop has not failed.
      if (this.#stopping.signal.aborted) return everyMs;
      if (!this.#failing) this.#log.warn({ err: error }, `${failure}; this is tried again`);
      this.#failing = true;
      return everyMs;
    }
  }
}
