import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mayReplace } from './may-replace.ts';

const written = { events: 3, checksum: '-7', droppedAt: null };
const dropped = { ...written, droppedAt: new Date('2026-03-10T12:00:00Z') };
const same = { events: 3, checksum: '-7' };
const damaged = null;

test('replaces only a file that the database has written and whose events it has', () => {
  const other = { events: 3, checksum: '-8' };
  const decide = (file: typeof same | null) =>
    [written, dropped, null].map((record) => mayReplace(record, file));
  assert.deepEqual(decide(same), [true, false, false]);
  assert.deepEqual(decide(damaged), [true, false, false]);
  assert.deepEqual(decide(other), [false, false, false]);
});
