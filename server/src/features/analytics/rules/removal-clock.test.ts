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

test('follows the system clock up to a jump of 35 days, and back', () => {
  for (const now of [START, later(35 * DAY_MS), later(-1_200 * DAY_MS)]) {
    assert.deepEqual(moveRemovalClock(last, now), { reachedAt: now, movedAt: now });
    assert.deepEqual(moveRemovalClock(null, now), { reachedAt: now, movedAt: now });
  }
});

test('follows a larger jump by six hours each hour, also after restarts', () => {
  const jump = 1_200 * DAY_MS;
  const first = moveRemovalClock(last, later(jump));
  assert.deepEqual(first, { reachedAt: later(6 * HOUR_MS), movedAt: later(jump) });
  const soon = moveRemovalClock(first, later(jump + 1_000));
  assert.deepEqual(soon.reachedAt, later(6 * HOUR_MS + 6_000));
  const next = moveRemovalClock(soon, later(jump + HOUR_MS));
  assert.deepEqual(next.reachedAt, later(12 * HOUR_MS));
  const back = moveRemovalClock(next, later(jump - DAY_MS));
  assert.deepEqual(back.reachedAt, later(12 * HOUR_MS));
});

test('catches up within a week after two months', () => {
  let clock = last;
  const hourOf = (hours: number) => later(60 * DAY_MS + hours * HOUR_MS);
  for (let hours = 0; hours < 120; hours++) {
    clock = moveRemovalClock(clock, hourOf(hours));
    assert.ok(clock.reachedAt < clock.movedAt);
  }
  assert.deepEqual(clock.reachedAt, later(30 * DAY_MS));
  assert.deepEqual(moveRemovalClock(clock, hourOf(120)).reachedAt, hourOf(120));
});

test('follows a corrected clock at once', () => {
  const wrong = moveRemovalClock(last, later(1_200 * DAY_MS));
  const right = later(HOUR_MS);
  assert.deepEqual(moveRemovalClock(wrong, right), { reachedAt: right, movedAt: right });
});
