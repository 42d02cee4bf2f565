import type { AgentSnapshot } from '@latchkey/contract';

/** The name of a part of a snapshot. */
export type PartName = Exclude<keyof AgentSnapshot, 'time'>;

/** One part of a snapshot. */
export type Part<Name extends PartName> = NonNullable<AgentSnapshot[Name]>;

/** Collects one part of each snapshot. It keeps the counters of the previous reading. */
export interface Collector<T> {
  /**
   * Reads now, without blocking on anything that may hang.
   * @param atMs the monotonic time in milliseconds
   * @returns null when the machine lacks the part
   */
  collect(atMs: number): T | null;
  /** Returns and clears a problem that did not prevent the part since the last call; null without one. */
  takeProblem?(): string | null;
  /**
   * Called at each tick that does not collect its part: helper programs may be stopped.
   * @param atMs as for `collect`
   */
  idle?(atMs: number): void;
  /** Closes files and stops helper programs. */
  close?(): void;
}

/** The collectors, by part. */
export type Collectors = { readonly [Name in PartName]?: Collector<Part<Name>> };

/**
 * Limits how often a collector reads, and returns its last part in between.
 * @param intervalMs the shortest time between two readings
 */
export function throttle<T>(intervalMs: number, collector: Collector<T>): Collector<T> {
  const isDue = every(intervalMs);
  let last: T | null = null;
  return {
    ...collector,
    collect(atMs) {
      if (!isDue(atMs)) return last;
      last = null;
      last = collector.collect(atMs);
      return last;
    },
  };
}

/**
 * Creates a check for periodic work.
 * @param intervalMs the shortest time between two runs
 * @returns a function that is true at first and again when the interval has passed
 */
export function every(intervalMs: number): (atMs: number) => boolean {
  let dueAtMs = Number.NEGATIVE_INFINITY;
  return (atMs) => {
    if (atMs < dueAtMs) return false;
    dueAtMs = atMs + intervalMs;
    return true;
  };
}
