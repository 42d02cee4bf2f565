import { setTimeout as sleep } from 'node:timers/promises';

import { isTransientConflict } from './database-errors.ts';

const MAX_TRIES = 5;

/** Two that met in a deadlock wait for random times, longer after each try, and so do not meet again. */
const RETRY_STEP_MS = 10;

/**
 * Runs work again from its start when it lost a deadlock or a serialization conflict, so it must keep no state of its own
 * between tries.
 * @throws what the last of five tries threw
 */
export async function retryConflicts<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isTransientConflict(error) || tries >= MAX_TRIES) throw error;
      await sleep(tries * RETRY_STEP_MS * Math.random());
    }
  }
}
