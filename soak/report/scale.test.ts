import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { createLinearScale, createLogScale } from './scale.ts';

const positive = fc.double({ min: 1e-3, max: 1e9, noNaN: true });

test('a linear scale begins at zero, contains the largest value, and has few ticks', () => {
  fc.assert(
    fc.property(positive, (largest) => {
      const { place, ticks } = createLinearScale(largest);
      assert.equal(ticks[0], 0);
      assert.ok(ticks.length >= 2 && ticks.length <= 6, String(ticks));
      assert.ok((ticks.at(-1) ?? 0) >= largest * 0.999_999);
      assert.equal(place(0), 0);
      assert.equal(place(ticks.at(-1) ?? 0), 1);
    }),
  );
});

test('a logarithmic scale contains all values, and increases', () => {
  fc.assert(
    fc.property(positive, positive, (one, two) => {
      const [smallest, largest] = [Math.min(one, two), Math.max(one, two)];
      const { place, ticks } = createLogScale(smallest, largest);
      assert.ok(
        (ticks[0] ?? 0) <= smallest * 1.000_001 && (ticks.at(-1) ?? 0) >= largest * 0.999_999,
      );
      assert.ok(place(smallest) <= place(largest));
    }),
  );
});

test('shows the ticks of usual values', () => {
  assert.deepEqual(createLinearScale(183).ticks, [0, 50, 100, 150, 200]);
  assert.deepEqual(createLogScale(0.8, 120).ticks, [0.1, 1, 10, 100, 1_000]);
  assert.deepEqual(createLinearScale(0).ticks, [0, 0.5, 1]);
});
