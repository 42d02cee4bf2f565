import { join } from 'node:path';

import { readText } from './small-file.ts';

const ASLEEP: ReadonlySet<string | null> = new Set(['suspended', 'suspending', 'resuming']);

/** Whether a device sleeps (runtime power management); reading this does not wake it, reading nearly all else would. */
export function isAsleep(directory: string): boolean {
  return ASLEEP.has(readText(join(directory, 'power/runtime_status')));
}

/** Whether the kernel may put it to sleep. */
export function canSleep(directory: string): boolean {
  return readText(join(directory, 'power/control')) === 'auto';
}
