import type { Clock } from '#server/clock.ts';

/** A clock that only the test advances. */
export interface TestClock extends Clock {
  set(now: Date): void;
  advance(milliseconds: number): void;
}

/** The same start time in every test, so that tests can contain literal dates. */
export const TEST_START = new Date('2027-03-01T12:00:00.000Z');

export const SECOND_MS = 1_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export function createTestClock(start: Date = TEST_START): TestClock {
  let nowMs = start.getTime();
  return {
    now: () => new Date(nowMs),
    set: (now) => {
      nowMs = now.getTime();
    },
    advance: (milliseconds) => {
      nowMs += milliseconds;
    },
  };
}

/** Returns the start time plus milliseconds, in the format of answers. */
export function fromStart(milliseconds: number): string {
  return new Date(TEST_START.getTime() + milliseconds).toISOString();
}
