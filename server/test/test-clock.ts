import type { Clock } from '#server/clock.ts';

/** A clock that stands still until the test moves it. */
export interface TestClock extends Clock {
  set(moment: Date): void;
  advance(milliseconds: number): void;
}

/** Begins at this moment in every test, so that all dates can be written out. */
export const TEST_START = new Date('2027-03-01T12:00:00.000Z');

export const SECOND_MS = 1_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

export function createTestClock(start: Date = TEST_START): TestClock {
  let nowMs = start.getTime();
  return {
    now: () => new Date(nowMs),
    set: (moment) => {
      nowMs = moment.getTime();
    },
    advance: (milliseconds) => {
      nowMs += milliseconds;
    },
  };
}

/** The test's start and so many milliseconds, as answers write it. */
export function fromStart(milliseconds: number): string {
  return new Date(TEST_START.getTime() + milliseconds).toISOString();
}
