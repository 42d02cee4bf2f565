import type { AgentSnapshot } from '@latchkey/contract';

/** What a collector gives to a snapshot. */
export type PartName = Exclude<keyof AgentSnapshot, 'time'>;

/** One part of a snapshot. */
export type Part<Name extends PartName> = NonNullable<AgentSnapshot[Name]>;

/** Reads one kind of vital sign, again and again. It holds what it needs from the time before. */
export interface Collector<T> {
  /**
   * Reads now, without waiting for anything that may hang.
   * @param atMs milliseconds of a clock that only goes forward
   * @returns null when the machine lacks it
   */
  collect(atMs: number): T | null;
  /** What went wrong since the last call although it gave a part, for whoever looks after the machine; null when nothing did. */
  takeProblem?(): string | null;
  /**
   * Told at each tick that does without its part: what it keeps at work for nobody may end.
   * @param atMs as for `collect`
   */
  rest?(atMs: number): void;
  /** Gives back what it holds open. */
  close?(): void;
}

/** The collectors by the part that each gives. */
export type Collectors = { readonly [Name in PartName]?: Collector<Part<Name>> };

/**
 * Asks a collector seldom, and repeats what it said in between: for what changes slowly or costs much.
 * @param intervalMs the shortest time between two readings
 */
export function atMostEvery<T>(intervalMs: number, collector: Collector<T>): Collector<T> {
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
 * Tells when something that is done seldom is due.
 * @param intervalMs the shortest time between two of it
 * @returns true at first, and when that time went by since it was true last
 */
export function every(intervalMs: number): (atMs: number) => boolean {
  let dueAtMs = Number.NEGATIVE_INFINITY;
  return (atMs) => {
    if (atMs < dueAtMs) return false;
    dueAtMs = atMs + intervalMs;
    return true;
  };
}
