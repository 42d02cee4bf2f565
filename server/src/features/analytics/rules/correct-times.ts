import { parseDateTime } from '@latchkey/contract';

/** A clock that is ahead by less is as good as ours. */
const TOLERANCE_MS = 5 * 60_000;

/** A clock that is ahead by more is not merely ahead: nothing can be told from it. */
const LONGEST_SHIFT_MS = 24 * 60 * 60_000;

/** The first moment that the interface takes, and the database too. */
const FIRST_MS = Date.parse('0001-01-01T00:00:00Z');

/** When an event happened, and what the client said where that cannot be; RFC 3339, in UTC. */
export interface CorrectedTime {
  readonly occurredAt: string;
  /** Null: the same. */
  readonly toldAt: string | null;
}

/** What `Date` writes: the usual form, which need not be read and written again. */
const PLAIN = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

/**
 * Corrects the times of a batch whose client's clock is ahead: by how much its newest event lies in our future, all are
 * shifted back, so that their order and the pauses between them stay. An event more than a day ahead counts as happening
 * now. What lies in the past stays, for it may have waited on a machine without a network.
 * @param told as the interface takes date-times
 */
export function correctTimes(told: readonly string[], now: Date): CorrectedTime[] {
  const times = told.map((text) => readTime(text, now));
  const ahead = times
    .map(({ at }) => at - now.getTime())
    .filter((aheadMs) => aheadMs <= LONGEST_SHIFT_MS);
  const newest = ahead.reduce((most, aheadMs) => Math.max(most, aheadMs), 0);
  const shiftMs = newest > TOLERANCE_MS ? newest : 0;
  return times.map((time) => correct(time, shiftMs, now));
}

interface Time {
  /** In ms. */
  readonly at: number;
  readonly text: string;
}

function readTime(text: string, now: Date): Time {
  if (PLAIN.test(text)) return { at: Date.parse(text), text };
  const time = parseDateTime(text) ?? now;
  return { at: time.getTime(), text: time.toISOString() };
}

function correct({ at, text }: Time, shiftMs: number, now: Date): CorrectedTime {
  if (at - now.getTime() > LONGEST_SHIFT_MS) return { occurredAt: now.toISOString(), toldAt: text };
  if (shiftMs === 0) return { occurredAt: text, toldAt: null };
  return { occurredAt: new Date(Math.max(at - shiftMs, FIRST_MS)).toISOString(), toldAt: text };
}
