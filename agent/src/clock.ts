import { readProcessorWaitMs } from './read/processor-wait.ts';

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
