import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Timeline } from './timeline.ts';

const START_MS = 1_000_000_000_000;

function fill(timeline: Timeline, seconds: readonly number[]): void {
  for (const second of seconds) timeline.add(START_MS + second * 1000, { a: second });
}

function secondsOf({ times }: Timeline): number[] {
  return times.map((time) => time - START_MS / 1000);
}

test('figures stand over their times; what comes later has nothing before', () => {
  const timeline = new Timeline();
  fill(timeline, [0, 1]);
  timeline.add(START_MS + 2000, { a: 7, b: 8 });
  timeline.add(START_MS + 3000, { b: 9 });
  assert.deepEqual(secondsOf(timeline), [0, 1, 2, 3]);
  assert.deepEqual(timeline.column('a'), [0, 1, 7, null]);
  assert.deepEqual(timeline.column('b'), [null, null, 8, 9]);
  assert.deepEqual(timeline.column('c'), [null, null, null, null]);
});

test('a time without snapshots is a gap, and a snapshot that is a little late is none', () => {
  const timeline = new Timeline();
  fill(timeline, [0, 2.4, 5]);
  assert.deepEqual(timeline.column('a'), [0, 2.4, null, 5]);
  assert.equal(timeline.times.length, 4);
});

test('at an interval of five seconds a gap is more, and so is what is shown', () => {
  const timeline = new Timeline();
  timeline.setInterval(5);
  fill(timeline, [0, 5, 15, 28]);
  assert.deepEqual(timeline.column('a'), [0, 5, 15, null, 28]);
  const [from, to] = timeline.range;
  assert.equal(to - from, 1500);
});

test('what is older than the window is forgotten, with the figures that were only there', () => {
  const timeline = new Timeline();
  timeline.add(START_MS, { gone: 1 });
  fill(
    timeline,
    Array.from({ length: 2000 }, (_, at) => at + 1),
  );
  assert.equal(timeline.times.length, 301);
  assert.deepEqual(secondsOf(timeline).slice(0, 2), [1700, 1701]);
  assert.equal(timeline.column('a').length, 301);
  assert.deepEqual(new Set(timeline.column('gone')), new Set([null]));
});

test('when the clock of the machine is set back, what was told of later times is forgotten', () => {
  const timeline = new Timeline();
  fill(timeline, [0, 1, 2, 3, 1.5]);
  assert.deepEqual(timeline.column('a'), [0, 1, 1.5]);
  assert.deepEqual(secondsOf(timeline), [0, 1, 1.5]);
});
