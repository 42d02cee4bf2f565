import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { planFaults } from './fault-times.ts';

const MINUTE_MS = 60_000;

test('plans every fault equally often, in order, within the day', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 120 }),
      (faults, minutes) => {
        const planned = planFaults(faults, minutes * MINUTE_MS);
        const counts = Array.from(
          { length: faults },
          (_, fault) => planned.filter((each) => each.fault === fault).length,
        );
        assert.deepEqual(new Set(counts), new Set([Math.max(1, Math.floor(minutes / 10))]));
        const times = planned.map(({ atMs }) => atMs);
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
        );
        assert.ok(times.every((atMs) => atMs > 0 && atMs < 0.95 * minutes * MINUTE_MS));
      },
    ),
  );
});

test('plans nothing without faults', () => {
  assert.deepEqual(planFaults(0, MINUTE_MS), []);
});
