import type { WorkerState } from './worker-roster.ts';

/** The delays before a replacement, by the number of failed starts; the last one repeats. */
const BACK_OFF_MS = [0, 500, 1_000, 2_000, 5_000, 10_000] as const;
const LONGEST_BACK_OFF_MS = 10_000;

/** A worker that ends earlier than this after its start counts as a failed start, also if it served requests. */
const SETTLED_AFTER_MS = 10_000;

/** Failed starts in a row after which a service without any worker ends: systemd may start it again. */
const MAX_FAILED_STARTS = 6;

/** The failed starts in a row, which decide when a worker that ended is replaced. */
export class FailedStarts {
  #count = 0;

  /** The time to wait before the next start. */
  get delayMs(): number {
    return BACK_OFF_MS[this.#count] ?? LONGEST_BACK_OFF_MS;
  }

  /** Whether a service without any worker ends. */
  get areTooMany(): boolean {
    return this.#count >= MAX_FAILED_STARTS;
  }

  /**
   * Records the end of a worker.
   * @param state its last one
   * @param ranMs how long its process ran
   */
  recordEnd(state: WorkerState | null, ranMs: number): void {
    const isFailed = state === 'starting' || ranMs < SETTLED_AFTER_MS;
    this.#count = isFailed ? this.#count + 1 : 0;
  }
}
