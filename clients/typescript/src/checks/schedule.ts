/** How long a client waits between two checks in the background. */

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** After one, two, three checks without an answer; then always the last one. */
const RETRIES_MS = [1, 5, 15, 60].map((minutes) => minutes * MINUTE_MS);

/** So that the machines of a company do not ask at the same time. */
const JITTER = 0.1;

/**
 * Returns how long to wait for the next check.
 * @param failures how many checks in a row were not answered
 * @param retryAfterMs what the service asked for; 0: nothing
 * @param random from 0 to 1
 */
export function checkWaitMs(failures: number, retryAfterMs: number, random: number): number {
  const retryMs = RETRIES_MS[Math.min(failures, RETRIES_MS.length) - 1] ?? DAY_MS;
  return Math.max(retryAfterMs, retryMs) * (1 - JITTER + 2 * JITTER * random);
}
