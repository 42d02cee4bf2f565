import assert from 'node:assert/strict';
import { test } from 'node:test';

import { learnTime, NEW_CLOCK, readClock, serviceTime } from './clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The device's time, in milliseconds, of an arbitrary time. */
const START = 1_800_000_000_000;

test('uses the clock of the device until the service states another time', () => {
  assert.deepEqual(readClock(NEW_CLOCK, START), { nowMs: START, wentBack: false });
});

test('corrects a difference of five minutes, and no smaller one', () => {
  const small = learnTime(NEW_CLOCK, START, START - 5 * MINUTE + 1);
  assert.equal(readClock(small, START + HOUR).nowMs, START + HOUR);
  const large = learnTime(NEW_CLOCK, START, START - 5 * MINUTE);
  assert.equal(readClock(large, START + HOUR).nowMs, START + HOUR - 5 * MINUTE);
});

test('never falls behind a time of the service, and notices a clock that was set back by more than an hour', () => {
  const clock = learnTime(NEW_CLOCK, START, START);
  assert.deepEqual(readClock(clock, START - HOUR), { nowMs: START, wentBack: false });
  assert.deepEqual(readClock(clock, START - HOUR - 1), { nowMs: START, wentBack: true });
});

test('forgets a clock that was ahead for a while', () => {
  const answered = learnTime(NEW_CLOCK, START + 20 * DAY, START);
  assert.equal(readClock(answered, START + 20 * DAY).nowMs, START);
  const again = learnTime(answered, START + HOUR, START + HOUR);
  assert.deepEqual(readClock(again, START + HOUR), { nowMs: START + HOUR, wentBack: false });
});

test('believes a header Date only if it fits the entitlement', () => {
  assert.equal(serviceTime(START + 65 * MINUTE, START), START + 65 * MINUTE);
  for (const date of [null, START - 1, START + 65 * MINUTE + 1]) {
    assert.equal(serviceTime(date, START), START);
  }
});
