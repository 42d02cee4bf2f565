/** The first retry is quick: a lost connection often works again at once. */
const QUICK_MS = 200;
const FIRST_RETRY_MS = 1000;

/** Retries stay close together for half a minute, in which an agent or a virtual machine restarts, so that it is soon seen again. */
const NEAR_MS = 2500;
const NEAR_ATTEMPTS = 14;

const FAR_MS = 5000;
const FARTHEST_MS = 30_000;

/** The attempt from which on delays grow to the longest; the first one for what waits for a person. */
export const FAR_ATTEMPT = NEAR_ATTEMPTS;

/**
 * Returns the delay before the next attempt in milliseconds: at first 0.2 to 0.4 s, then exponential backoff with half of it random,
 * so that many pages do not reconnect at once: up to 2.5 s for about half a minute, then up to 30 s.
 * @param attempt number of failed attempts since the last stable connection
 * @param random from 0 up to 1
 */
export function decideRetryDelayMs(attempt: number, random: number): number {
  if (attempt === 0) return Math.round(QUICK_MS * (1 + random));
  const longest =
    attempt < NEAR_ATTEMPTS
      ? Math.min(NEAR_MS, FIRST_RETRY_MS * 2 ** (attempt - 1))
      : Math.min(FARTHEST_MS, FAR_MS * 2 ** Math.min(attempt - NEAR_ATTEMPTS, 10));
  return Math.round(longest * (0.5 + random / 2));
}
