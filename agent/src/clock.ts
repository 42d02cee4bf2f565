import { KeptFile } from './read/kept-file.ts';

/** The two clocks: one for people, and one that only goes forward, for differences. */
export interface Clock {
  readonly now: () => Date;
  readonly monotonicMs: () => number;
  /** For how long this program could not go on because others had the processor; without it, never. */
  readonly processorWaitMs?: () => number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  processorWaitMs: readProcessorWaitMs,
};

/** Of this very process, so never of a tree of files. It is opened by the first question. */
const file = new KeptFile('/proc/self/schedstat');

const NANOSECONDS_PER_MS = 1_000_000;

/**
 * For how long the main thread has waited for a processor since it began, in milliseconds (kernel documentation,
 * scheduler/sched-stats); 0 where the kernel does not count it.
 */
export function readProcessorWaitMs(): number {
  const [, nanoseconds] = file.read()?.toString('latin1').split(' ') ?? [];
  return Number(nanoseconds ?? 0) / NANOSECONDS_PER_MS;
}
