import { setTimeout as sleep } from 'node:timers/promises';

export interface Patience {
  /** Left out: ten seconds; a machine that is busy with other tests takes its time. */
  readonly patienceMs?: number;
  /** What is told when it did not come; left out: the condition. */
  readonly tell?: () => string;
}

const INTERVAL_MS = 10;

/**
 * Waits until something holds that another process, or a loop in this one, brings about.
 * @throws Error when it does not come in time
 */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  { patienceMs = 10_000, tell = () => holds.toString() }: Patience = {},
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`in vain for ${patienceMs} ms: ${tell()}`);
    await sleep(INTERVAL_MS);
  }
}
