import { setTimeout as sleep } from 'node:timers/promises';

/** Polls a condition once per turn of the event loop; the timeout of the test runner ends an endless wait. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

/** Polls a function until it returns a value. @throws Error after a minute, which only a failure takes */
export async function waitFor<T>(read: () => T | null | false | undefined): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const value = read();
    if (value !== null && value !== false && value !== undefined) return value;
    if (performance.now() > deadline) throw new Error('No value within a minute.');
    await sleep(5);
  }
}
