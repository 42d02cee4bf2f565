import { parseDateTime } from '@latchkey/contract';

/** A smaller deviation of the client's clock is ignored. */
const TOLERANCE_MS = 5 * 60_000;

/** A larger deviation is no offset of the clock but an invalid time. */
const MAX_SHIFT_MS = 24 * 60 * 60_000;

/** The earliest time that the interface and the database accept. */
const MIN_TIME_MS = Date.parse('0001-01-01T00:00:00Z');

/** RFC 3339, in UTC. */
export interface CorrectedTime {
  readonly occurredAt: string;
  /** The time by the client's clock, where it was corrected; else null. */
  readonly clientOccurredAt: string | null;
}

/** The format of `Date.toISOString`, which needs no conversion. */
const ISO_FORMAT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * Corrects the times of a batch whose client's clock is ahead: shifts all back by as much as the newest one is in the
 * future, which keeps their order and distances. An event more than a day ahead gets the present time. Times in the past
 * remain, because the client may have been offline.
 * @param clientTimes as the interface accepts them
 */
export function correctTimes(clientTimes: readonly string[], now: Date): CorrectedTime[] {
  const times = clientTimes.map((text) => parseTime(text, now));
  const ahead = times
    .map(({ ms }) => ms - now.getTime())
    .filter((aheadMs) => aheadMs <= MAX_SHIFT_MS);
  const newest = ahead.reduce((most, aheadMs) => Math.max(most, aheadMs), 0);
  const shiftMs = newest > TOLERANCE_MS ? newest : 0;
  return times.map((time) => correct(time, shiftMs, now));
}

interface Time {
  readonly ms: number;
  readonly text: string;
}

function parseTime(text: string, now: Date): Time {
  if (ISO_FORMAT.test(text)) return { ms: Date.parse(text), text };
  const time = parseDateTime(text) ?? now;
  return { ms: time.getTime(), text: time.toISOString() };
}

function correct({ ms, text }: Time, shiftMs: number, now: Date): CorrectedTime {
  if (ms - now.getTime() > MAX_SHIFT_MS) {
    return { occurredAt: now.toISOString(), clientOccurredAt: text };
  }
  if (shiftMs === 0) return { occurredAt: text, clientOccurredAt: null };
  const shifted = new Date(Math.max(ms - shiftMs, MIN_TIME_MS));
  return { occurredAt: shifted.toISOString(), clientOccurredAt: text };
}
