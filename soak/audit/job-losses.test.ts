import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Expectations, type FaultWindow } from '../expectations/expectations.ts';
import { Violations } from '../expectations/violations.ts';
import { countUnexplained, listJobLosses } from './job-losses.ts';

/** Creates a fault from 10 to 20 s. */
function createWindow(interruptions: number, recoveredAt: number | null = null): FaultWindow {
  const fault = { name: 'x', allowed: [], recoveryMs: 4_000 };
  const window = new Expectations(new Violations()).begin(fault, 10_000, interruptions);
  window.causeEndedAt = 20_000;
  window.recoveredAt = recoveredAt;
  return window;
}

test('each interruption of a fault loses the outcomes of two jobs, until the recovery', () => {
  const windows = [createWindow(0), createWindow(1), createWindow(12, 21_000)];
  assert.deepEqual(listJobLosses(windows), [
    { from: 5_000, until: 24_000, most: 2 },
    { from: 5_000, until: 21_000, most: 24 },
  ]);
});

test('an e-mail is explained by a fault at the time of the one before, each outcome once', () => {
  const losses = [
    { from: 0, until: 20, most: 1 },
    { from: 10, until: 30, most: 2 },
  ];
  assert.equal(countUnexplained([5, 15, 25], losses), 0);
  assert.equal(countUnexplained([5, 6], losses), 1);
  assert.equal(countUnexplained([15, 15, 15, 15], losses), 1);
  assert.equal(countUnexplained([31], losses), 1);
  assert.equal(countUnexplained([5], []), 1);
});
