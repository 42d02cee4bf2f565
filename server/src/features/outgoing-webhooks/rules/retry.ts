import { withJitter } from '#server/lib/retry-delay.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The delays after each attempt: the schedule of Standard Webhooks, three days in total. */
export const RETRY_DELAYS_MS = [
  5_000,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
] as const;

/** An endpoint that has been failing for longer than this is disabled. */
export const MAX_FAILING_MS = 5 * DAY_MS;

/**
 * A failure is forgotten after this time without another one. It is longer than any delay between two attempts, so that an
 * endpoint that rejects all attempts is always disabled.
 */
export const FAILURE_MEMORY_MS = 1.5 * DAY_MS;

/** The longest Retry-After that is observed. */
const MAX_RETRY_AFTER_MS = DAY_MS;

/**
 * Returns the time of the next attempt; null after the last one.
 * @param attempts including the current one
 * @param retryAfterMs the Retry-After of the receiver
 * @param random from 0 to 1
 */
export function nextAttemptAt(
  attempts: number,
  retryAfterMs: number | null,
  now: Date,
  random: number,
): Date | null {
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  if (delayMs === undefined) return null;
  const jittered = withJitter(delayMs, random);
  const requested = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return new Date(now.getTime() + Math.round(Math.max(jittered, requested)));
}
