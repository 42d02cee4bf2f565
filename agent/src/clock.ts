import { KernelFile } from './read/kernel-file.ts';

/** The wall clock and the monotonic clock. */
export interface Clock {
  readonly now: () => Date;
  readonly monotonicMs: () => number;
  /** How long this process has waited for a processor; default: 0. */
  readonly processorWaitMs?: () => number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  processorWaitMs: readProcessorWaitMs,
};

/** Of this process, so never below `Roots`. Opened by the first read. */
const file = new KernelFile('/proc/self/schedstat');

const NANOSECONDS_PER_MS = 1_000_000;

/**
 * Returns how long the main thread has waited for a processor since its start (kernel documentation, scheduler/sched-stats);
 * 0 where the kernel does not count it.
 */
export function readProcessorWaitMs(): number {
  const [, nanoseconds] = file.read()?.toString('latin1').split(' ') ?? [];
  return Number(nanoseconds ?? 0) / NANOSECONDS_PER_MS;
}
