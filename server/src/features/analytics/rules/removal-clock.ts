/** The time from which the removal of old data counts ages. */
export interface RemovalClock {
  readonly reachedAt: Date;
  /** The time by the system clocks when it last advanced. */
  readonly movedAt: Date;
}

const HOUR_MS = 60 * 60_000;

/** A larger jump may be a wrong clock, which must not remove more kept data than this at once. */
const MAX_JUMP_MS = 35 * 24 * HOUR_MS;

/** Removal runs hourly; a longer interval may be the jump itself, and counts as this much. */
const MAX_INTERVAL_MS = HOUR_MS;

/**
 * The factor by which it advances faster than time towards a clock that is far ahead: slow enough for an operator to
 * react.
 */
const CATCH_UP_FACTOR = 6;

/** Whether the system clock is so far ahead of the removal clock that it may be wrong. */
export function isFarAhead({ reachedAt }: RemovalClock, now: Date): boolean {
  return now.getTime() - reachedAt.getTime() > MAX_JUMP_MS;
}

/**
 * Advances the removal clock to the present time, or, while the system clock is far ahead, by six times the time that
 * passed. The newest data cannot prove the time: a service with a wrong clock stores new rows within seconds.
 * @param last null before the first removal
 */
export function moveRemovalClock(last: RemovalClock | null, now: Date): RemovalClock {
  if (last === null || !isFarAhead(last, now)) return { reachedAt: now, movedAt: now };
  const sinceMs = now.getTime() - last.movedAt.getTime();
  const passedMs = Math.min(Math.max(sinceMs, 0), MAX_INTERVAL_MS);
  const reachedAt = new Date(last.reachedAt.getTime() + passedMs * CATCH_UP_FACTOR);
  return { reachedAt, movedAt: now };
}
