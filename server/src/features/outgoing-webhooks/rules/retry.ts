import { withJitter } from '#server/lib/retry-delay.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The pauses after the first attempt, the second …: the schedule of Standard Webhooks, three days in all. */
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

/** An endpoint that only failed for this long, time and again, is disabled. */
export const GIVE_UP_AFTER_MS = 5 * DAY_MS;

/**
 * Failures this far apart are not of one time of failures. It is longer than any pause between two attempts, so that an
 * endpoint which has something to take and never takes it is always disabled.
 */
export const FAILURES_APART_MS = 1.5 * DAY_MS;

/** A receiver may ask for a longer pause, up to this one. */
const MAX_RETRY_AFTER_MS = DAY_MS;

/**
 * When a delivery that failed is tried again; null when it has been tried for the last time.
 * @param attempts how often it was tried, this time included
 * @param retryAfterMs the pause that the receiver asked for
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
  const asked = Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS);
  return new Date(now.getTime() + Math.round(Math.max(jittered, asked)));
}
