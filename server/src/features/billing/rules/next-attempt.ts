const MINUTE_MS = 60_000;

/** After about four days of tries an event is given up. */
const MAX_ATTEMPTS = 14;

/** A try comes at the latest so long after the one before. */
const LONGEST_PAUSE_MINUTES = 12 * 60;

/**
 * When an event that could not be applied is tried again: after a minute, then two, four and so on, up to twelve hours;
 * null when it was tried often enough.
 * @param attempts how often it was tried, at least once
 */
export function nextAttempt(now: Date, attempts: number): Date | null {
  if (attempts >= MAX_ATTEMPTS) return null;
  const minutes = Math.min(2 ** (attempts - 1), LONGEST_PAUSE_MINUTES);
  return new Date(now.getTime() + minutes * MINUTE_MS);
}
