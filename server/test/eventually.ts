import { setTimeout as sleep } from 'node:timers/promises';

export interface WaitOptions {
  /** Default: 60 seconds, since the machine may be busy with other tests. */
  readonly timeoutMs?: number;
  /** Returns what is missing, for the error; default: the source of the condition. */
  readonly describe?: () => string;
}

const INTERVAL_MS = 10;

/**
 * Waits until a condition holds that another process, or a loop in this one, establishes.
 * @throws Error on a timeout
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = 60_000, describe = () => condition.toString() }: WaitOptions = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`timeout after ${timeoutMs} ms: ${describe()}`);
    await sleep(INTERVAL_MS);
  }
}
