import { availableParallelism } from 'node:os';

import { InvalidArgumentError } from 'commander';

/** Two keep a service available while one is replaced, also on a single core. */
const ALWAYS_ALLOWED = 2;

/**
 * Parses the value of `--workers`.
 * @param cores of this machine or container
 * @returns the number of workers; `auto` is one for each core
 */
export function parseWorkerCount(text: string, cores = availableParallelism()): number {
  if (text === 'auto') return cores;
  const count = /^\d{1,5}$/u.test(text) ? Number(text) : 0;
  const most = Math.max(cores, ALWAYS_ALLOWED);
  if (count >= 1 && count <= most) return count;
  const machine = `this machine has ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  throw new InvalidArgumentError(
    `Expected auto or a whole number from 1 to ${most}, since ${machine} and more workers would only share them.`,
  );
}
