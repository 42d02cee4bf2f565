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

test('fills the past of a new figure with null', () => {
  const timeline = new Timeline();
  fill(timeline, [0, 1]);
  timeline.add(START_MS + 2000, { a: 7, b: 8 });
  timeline.add(START_MS + 3000, { b: 9 });
  assert.deepEqual(secondsOf(timeline), [0, 1, 2, 3]);
  assert.deepEqual(timeline.column('a'), [0, 1, 7, null]);
  assert.deepEqual(timeline.column('b'), [null, null, 8, 9]);
  assert.deepEqual(timeline.column('c'), [null, null, null, null]);
});

test('marks a gap after missing snapshots, and not after a late one', () => {
  const timeline = new Timeline();
  fill(timeline, [0, 2.4, 5]);
  assert.deepEqual(timeline.column('a'), [0, 2.4, null, 5]);
  assert.equal(timeline.times.length, 4);
});

test('scales gap and window with the interval', () => {
  const timeline = new Timeline();
  timeline.setInterval(5);
  fill(timeline, [0, 5, 15, 28]);
  assert.deepEqual(timeline.column('a'), [0, 5, 15, null, 28]);
  const [from, to] = timeline.range;
  assert.equal(to - from, 1500);
});

test('drops times before the window, and keys without values', () => {
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

test('drops later times after the clock was set back', () => {
  const timeline = new Timeline();
  fill(timeline, [0, 1, 2, 3, 1.5]);
  assert.deepEqual(timeline.column('a'), [0, 1, 1.5]);
  assert.deepEqual(secondsOf(timeline), [0, 1, 1.5]);
});
