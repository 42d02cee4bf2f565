import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import { Turns } from './turns.ts';

describe('turns', () => {
  test('opens ten at a time, while connections are free', () => {
    const turns = new Turns<number>(150);
    for (let key = 0; key < 35; key += 1) turns.request(key);
    const starts = Array.from({ length: 5 }, () => {
      const { start } = turns.step(0);
      for (const key of start) turns.opened(key);
      return start.length;
    });
    assert.deepEqual(starts, [10, 10, 10, 5, 0]);
    assert.deepEqual(turns.step(3_600_000), { start: [], stop: [] });
  });

  test('lets others begin after a second, when nothing answers', () => {
    const turns = new Turns<number>(150);
    for (let key = 0; key < 15; key += 1) turns.request(key);
    const starts = [0, 999, 1000].map((nowMs) => turns.step(nowMs).start.length);
    assert.deepEqual(starts, [10, 0, 5]);
  });

  test('ends a turn after 30 s, the longest first, only while others wait', () => {
    const turns = new Turns<string>(2);
    turns.request('a');
    turns.step(0);
    turns.request('b');
    turns.step(1000);
    assert.deepEqual(turns.step(60_000), { start: [], stop: [] });
    turns.request('c');
    assert.deepEqual([...turns.waiting], ['c']);
    assert.deepEqual(turns.step(60_000), { start: [], stop: ['a'] });
    assert.deepEqual(turns.step(60_250), { start: [], stop: [] }, 'while a closes');
    turns.release('a');
    assert.deepEqual(turns.step(60_500), { start: ['c'], stop: [] });
  });

  test('ends two turns at a time, and none twice', () => {
    const turns = new Turns<string>(3);
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) turns.request(key);
    turns.step(0);
    const stops = [60_000, 60_250, 60_500].map((nowMs) => turns.step(nowMs).stop);
    assert.deepEqual(stops, [['a', 'b'], ['c'], []]);
  });

  test('resumes an interrupted turn before others', () => {
    const turns = new Turns<string>(1);
    for (const key of ['a', 'b', 'c']) turns.request(key);
    assert.deepEqual(turns.step(0).start, ['a']);
    turns.release('a');
    turns.request('a', true);
    assert.deepEqual(turns.step(300).start, ['a']);
  });

  test('1,000 machines on 150 connections: each is seen again within its history of 300 s', () => {
    const turns = new Turns<number>(150);
    for (let key = 0; key < 1000; key += 1) turns.request(key);
    const seen = new Map<number, number>();
    let longestMs = 0;
    for (let nowMs = 0; nowMs < 1_800_000; nowMs += 250) {
      const { start, stop } = turns.step(nowMs);
      for (const key of start) longestMs = Math.max(longestMs, nowMs - (seen.get(key) ?? 0));
      for (const key of stop) {
        seen.set(key, nowMs);
        turns.release(key);
        turns.request(key);
      }
    }
    assert.ok(longestMs < 300_000, `${longestMs} ms`);
  });
});

/** What happens to a machine's connection in a step. */
const action = fc.record({
  key: fc.nat(39),
  kind: fc.constantFrom('fail', 'leave', 'join', 'retry'),
});

test('never exceeds the limit, and everyone gets a turn', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.array(fc.array(action, { maxLength: 3 }), { maxLength: 200 }),
      (maxOpen, steps) => {
        const turns = new Turns<number>(maxOpen);
        const open = new Set<number>();
        const step = (nowMs: number): readonly number[] => {
          const { start, stop } = turns.step(nowMs);
          for (const key of start) {
            assert.ok(!open.has(key), 'one connection for each');
            open.add(key);
          }
          assert.ok(open.size <= maxOpen, `${open.size} of ${maxOpen}`);
          return stop;
        };
        const close = (key: number): void => {
          open.delete(key);
          turns.release(key);
        };
        for (let key = 0; key < 40; key += 1) turns.request(key);
        for (const [at, actions] of steps.entries()) {
          for (const { key, kind } of actions) {
            if (kind === 'fail' || kind === 'leave') close(key);
            if (kind !== 'leave') turns.request(key, kind === 'retry');
          }
          for (const key of step(at * 250)) {
            close(key);
            turns.request(key);
          }
        }
        for (let key = 0; key < 40; key += 1) turns.request(key);
        const served = new Set(open);
        for (let nowMs = 1_000_000; served.size < 40 && nowMs < 5_000_000; nowMs += 250) {
          const { start, stop } = turns.step(nowMs);
          for (const key of start) served.add(key);
          for (const key of stop) {
            turns.release(key);
            turns.request(key);
          }
        }
        assert.equal(served.size, 40);
      },
    ),
    { numRuns: 60 },
  );
});
