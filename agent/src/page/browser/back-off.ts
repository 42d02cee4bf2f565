const FIRST_MS = 1000;
const LONGEST_MS = 30_000;

/**
 * How long to wait before the next try: doubled each time, and spread, so that a thousand pages do not come back at once.
 * @param attempt 0 for the first try after a connection was lost
 * @param random from 0 up to 1
 */
export function decideDelayMs(attempt: number, random: number): number {
  const longest = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return Math.round(longest * (0.5 + random / 2));
}
