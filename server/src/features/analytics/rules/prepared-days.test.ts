import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findPreparedUntil } from './prepared-days.ts';

const NOON = new Date('2026-11-29T12:00:00Z');

test('events can be stored until the first day without a partition', () => {
  for (const [days, until] of [
    [['2026-11-28', '2026-11-29', '2026-11-30', '2026-12-01'], '2026-12-02'],
    [['2026-11-29', '2026-12-01'], '2026-11-30'],
    [['2026-11-28'], '2026-11-29'],
    [[], '2026-11-29'],
  ] as const) {
    assert.equal(findPreparedUntil(days, NOON).toISOString(), `${until}T00:00:00.000Z`);
  }
});
