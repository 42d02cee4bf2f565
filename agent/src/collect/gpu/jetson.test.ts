import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readOutput } from '../../../test/outputs.ts';

import { parseTegrastats } from './jetson.ts';

test('a Nano, a Xavier and an Orin say the same in their own ways', () => {
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/nano.txt')), {
    memoryUsedMebibytes: 1903,
    memoryTotalMebibytes: 3956,
    usagePercent: 14,
    clockMegahertz: 76,
    temperatureCelsius: 24,
    powerMilliwatts: 40,
  });
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/xavier.txt')), {
    memoryUsedMebibytes: 4722,
    memoryTotalMebibytes: 15_824,
    usagePercent: 88,
    clockMegahertz: null,
    temperatureCelsius: 35,
    powerMilliwatts: 1077,
  });
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/orin.txt')), {
    memoryUsedMebibytes: 3482,
    memoryTotalMebibytes: 7620,
    usagePercent: 62,
    clockMegahertz: 305,
    temperatureCelsius: 44.093,
    powerMilliwatts: null,
  });
});

test('a GPU that is switched off has memory alone, and a rail that feeds others is not its power', () => {
  assert.deepEqual(parseTegrastats(readOutput('tegrastats/orin-off.txt')), {
    memoryUsedMebibytes: 20_642,
    memoryTotalMebibytes: 62_817,
    usagePercent: null,
    clockMegahertz: 0,
    temperatureCelsius: null,
    powerMilliwatts: null,
  });
});

test('the newest whole line counts; without one there is no reading', () => {
  const [nano, orin] = [readOutput('tegrastats/nano.txt'), readOutput('tegrastats/orin.txt')];
  const lines = Buffer.concat([nano, orin, nano.subarray(0, -1)]);
  assert.equal(parseTegrastats(lines)?.usagePercent, 62);
  assert.equal(parseTegrastats(nano.subarray(0, -1)), null);
  assert.equal(parseTegrastats(Buffer.from('tegrastats: RAM not found\n\n')), null);
});
