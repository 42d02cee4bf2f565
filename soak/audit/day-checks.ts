/** Promises about the day itself, which are checked against what was measured. */
import type { Recorder } from '../load/recorder.ts';
import type { Sample } from '../sample/sampler.ts';
import type { Check } from './check.ts';

/** V8 limits the objects of a process to 256 MiB; buffers, code and threads take the rest. */
const MAX_MEMORY_MIB = 512;

/** Checks the memory of the service. @param processes with the supervisor */
export function checkMemory(samples: readonly Sample[], processes: number): Check {
  const limit = MAX_MEMORY_MIB * processes;
  const sizes = samples.flatMap(({ memoryMib }) => (memoryMib === null ? [] : [memoryMib]));
  const largest = Math.max(0, ...sizes);
  return {
    promise: `The service takes at most ${limit} MiB of memory`,
    compared: sizes.length,
    problems: largest <= limit ? [] : [`it took ${largest.toFixed(0)} MiB`],
  };
}

/**
 * Payments wait for one another, at most two seconds; then the service answers 503, since providers repeat that and wait only five
 * seconds for an answer. It loses nothing, but at an ordinary load it must be rare.
 */
const MAX_REFUSED_SHARE = 1 / 1_000;

/** Checks how many webhooks were refused. @param refused those that were answered 503 without a fault */
export function checkWebhooks(recorder: Recorder, refused: number): Check {
  const compared = recorder.count('webhook');
  const problem = `${refused} of ${compared} were`;
  const promise = 'Without a fault, at most 1 in 1,000 webhooks is answered 503';
  return {
    promise: refused === 0 ? promise : `${promise}; ${problem}`,
    compared,
    problems: refused <= MAX_REFUSED_SHARE * compared ? [] : [problem],
  };
}
