import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beginOf, dayOf } from './day.ts';

test('a day becomes the time at which it begins here, and back', () => {
  assert.equal(beginOf('2026-11-20'), new Date(2026, 10, 20).toISOString());
  assert.equal(dayOf(beginOf('2026-03-29')), '2026-03-29');
  assert.deepEqual([beginOf(''), dayOf(''), dayOf('x')], ['', '', '']);
});
