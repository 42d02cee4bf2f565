import { setTimeout as wait } from 'node:timers/promises';

/**
 * Yields a text at an interval until a promise settles, so that no proxy ends a response that begins late.
 * @param filler for example a space, which may precede JSON
 * @returns the value of the promise
 */
export async function* fillWhilePending<T>(
  pending: Promise<T>,
  filler: string,
  intervalMs: number,
): AsyncGenerator<string, T> {
  const settled = pending.then((value) => ({ value }));
  for (;;) {
    const stop = new AbortController();
    const timer = wait(intervalMs, null, { signal: stop.signal }).catch(() => null);
    const done = await Promise.race([settled, timer]).finally(() => stop.abort());
    if (done !== null) return done.value;
    yield filler;
  }
}
