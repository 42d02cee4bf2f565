import assert from 'node:assert/strict';
import { test } from 'node:test';

import { moveRemovalClock, type RemovalClock } from './removal-clock.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = new Date('2027-03-01T12:00:00Z');

function later(milliseconds: number): Date {
  return new Date(START.getTime() + milliseconds);
}

const last: RemovalClock = { reachedAt: START, movedAt: START };

test('removal counts by the clock, up to a leap of 35 days, and goes back with it', () => {
  for (const now of [START, later(35 * DAY_MS), later(-1_200 * DAY_MS)]) {
    assert.deepEqual(moveRemovalClock(last, now), { reachedAt: now, movedAt: now });
    assert.deepEqual(moveRemovalClock(null, now), { reachedAt: now, movedAt: now });
  }
});

test('a clock that leaps further is followed by six hours each hour, whatever it and the restarts say', () => {
  const leap = 1_200 * DAY_MS;
  const first = moveRemovalClock(last, later(leap));
  assert.deepEqual(first, { reachedAt: later(6 * HOUR_MS), movedAt: later(leap) });
  const soon = moveRemovalClock(first, later(leap + 1_000));
  assert.deepEqual(soon.reachedAt, later(6 * HOUR_MS + 6_000));
  const next = moveRemovalClock(soon, later(leap + HOUR_MS));
  assert.deepEqual(next.reachedAt, later(12 * HOUR_MS));
  const back = moveRemovalClock(next, later(leap - DAY_MS));
  assert.deepEqual(back.reachedAt, later(12 * HOUR_MS));
});

test('a service that rested for two months has caught up within a week', () => {
  let clock = last;
  const hourOf = (hours: number) => later(60 * DAY_MS + hours * HOUR_MS);
  for (let hours = 0; hours < 120; hours++) {
    clock = moveRemovalClock(clock, hourOf(hours));
    assert.ok(clock.reachedAt < clock.movedAt);
  }
  assert.deepEqual(clock.reachedAt, later(30 * DAY_MS));
  assert.deepEqual(moveRemovalClock(clock, hourOf(120)).reachedAt, hourOf(120));
});

test('a clock that was put right counts at once', () => {
  const wrong = moveRemovalClock(last, later(1_200 * DAY_MS));
  const right = later(HOUR_MS);
  assert.deepEqual(moveRemovalClock(wrong, right), { reachedAt: right, movedAt: right });
});
