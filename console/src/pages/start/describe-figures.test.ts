import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeChange, describeFigures } from './describe-figures.ts';

test('compares a number with that of the 30 days before', () => {
  for (const [value, previous, expected] of [
    [120, 100, '+20%, 30 days before: 100'],
    [50, 100, '−50%, 30 days before: 100'],
    [100, 100, '±0%, 30 days before: 100'],
    [5, 0, '30 days before: 0'],
    [5, null, 'no earlier numbers'],
    [null, null, 'not counted yet'],
  ] as const) {
    assert.equal(describeChange({ value, previous }), expected);
  }
});

const of = (name: 'trials_started' | 'trials_converted' | 'new_licenses', value: number) => ({
  name,
  value,
  previous: 1,
  // The last day is today.
  days: [0, null, value, 1],
  previous_days: [1],
});

test('shows four figures, the conversions with the trials', () => {
  const shown = describeFigures([
    of('new_licenses', 2),
    of('trials_started', 8),
    of('trials_converted', 2),
  ]);
  assert.deepEqual(
    shown.map(({ label, note, series }) => [label, note, series]),
    [
      ['New licenses', '+100%, 30 days before: 1', [0, 0, 2]],
      ['Trials started', '2 converted so far (25%)', [0, 0, 8]],
    ],
  );
});
