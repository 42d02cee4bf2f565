/** How far removal has counted time. */
export interface RemovalClock {
  /** What is old is old at this moment. */
  readonly reachedAt: Date;
  /** What the clocks said when it was last moved. */
  readonly movedAt: Date;
}

const HOUR_MS = 60 * 60_000;

/**
 * No more of what is kept may be lost at once to a clock that is ahead. A service that rests for longer, with a clock that
 * is right, catches up.
 */
const LARGEST_LEAP_MS = 35 * 24 * HOUR_MS;

/** Removal runs once an hour; the time from a clock that leapt to the one before counts as no more than that. */
const LONGEST_PAUSE_MS = HOUR_MS;

/** So many times as fast as time passes it follows a clock that is far ahead: slow enough for somebody to look. */
const CATCH_UP_FACTOR = 6;

/** Whether a clock is so far ahead of where removal has counted to that it may be wrong. */
export function isFarAhead({ reachedAt }: RemovalClock, now: Date): boolean {
  return now.getTime() - reachedAt.getTime() > LARGEST_LEAP_MS;
}

/**
 * The moment from which ages are counted: the present one, unless the clock has leapt more than 35 days ahead since the
 * last time. Then only as much is added as has passed, six times. What the data say does not help here: a service with
 * a wrong clock writes new rows within seconds.
 * @param last null: nothing was ever removed
 */
export function moveRemovalClock(last: RemovalClock | null, now: Date): RemovalClock {
  if (last === null || !isFarAhead(last, now)) return { reachedAt: now, movedAt: now };
  const sinceMs = now.getTime() - last.movedAt.getTime();
  const passedMs = Math.min(Math.max(sinceMs, 0), LONGEST_PAUSE_MS);
  const reachedAt = new Date(last.reachedAt.getTime() + passedMs * CATCH_UP_FACTOR);
  return { reachedAt, movedAt: now };
}
