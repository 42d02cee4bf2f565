import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readOutput } from '../../../test/programs.ts';

import { parseTegrastats } from './jetson.ts';

const MEBIBYTE = 1_048_576;

test('parses the formats of a Nano, a Xavier and an Orin', () => {
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/nano.txt')), {
    memory_used_bytes: 1903 * MEBIBYTE,
    memory_total_bytes: 3956 * MEBIBYTE,
    memory_shared: true,
    usage_ratio: 0.14,
    frequency_hertz: 76_000_000,
    temperature_celsius: 24,
    power_watts: 0.04,
  });
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/xavier.txt')), {
    memory_used_bytes: 4722 * MEBIBYTE,
    memory_total_bytes: 15_824 * MEBIBYTE,
    memory_shared: true,
    usage_ratio: 0.88,
    temperature_celsius: 35,
    power_watts: 1.077,
  });
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/orin.txt')), {
    memory_used_bytes: 3482 * MEBIBYTE,
    memory_total_bytes: 7620 * MEBIBYTE,
    memory_shared: true,
    usage_ratio: 0.62,
    frequency_hertz: 305_000_000,
    temperature_celsius: 44.093,
  });
});

test('parses a GPU that is powered off, and ignores shared power rails', () => {
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/orin-off.txt')), {
    memory_used_bytes: 20_642 * MEBIBYTE,
    memory_total_bytes: 62_817 * MEBIBYTE,
    memory_shared: true,
    frequency_hertz: 0,
  });
});

test('uses the newest complete line, and returns null without one', () => {
  const [nano, orin] = [readOutput('tegrastats/nano.txt'), readOutput('tegrastats/orin.txt')];
  const lines = Buffer.concat([nano, orin, nano.subarray(0, -1)]);
  assert.equal(parseTegrastats(lines)?.usage_ratio, 0.62);
  assert.equal(parseTegrastats(nano.subarray(0, -1)), null);
  assert.equal(parseTegrastats(Buffer.from('tegrastats: RAM not found\n\n')), null);
});
