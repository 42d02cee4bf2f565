import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exampleSnapshot } from '../test/example-snapshot.ts';
import { findNotices } from './notices.ts';

const time = '2026-11-21T12:00:00.000Z';

test('finds no problems in an empty snapshot, and a mount that does not answer in the example', () => {
  assert.deepEqual(findNotices({ time }), []);
  assert.deepEqual(findNotices(exampleSnapshot), [
    { code: 'filesystem_stale', severity: 'error', subject: '/nfs' },
  ]);
});

test('counts failed units and names the first', () => {
  assert.deepEqual(findNotices({ time, units: { failed: [] } }), []);
  assert.deepEqual(findNotices({ time, units: { failed: ['a.service'] } }), [
    { code: 'unit_failed', severity: 'error', subject: 'a.service' },
  ]);
  assert.deepEqual(findNotices({ time, units: { failed: ['a.service', 'b.mount'] } }), [
    { code: 'unit_failed', severity: 'error', subject: 'a.service', count: 2 },
  ]);
});

test('reports a filesystem from 90 % on, as an error from 99 %, in whole percents', () => {
  const filesystem = { mount_point: '/var', device: 'a', type: 'ext4', read_only: false };
  const find = (usage_ratio: number) =>
    findNotices({ time, filesystems: [{ ...filesystem, usage_ratio }] });
  assert.deepEqual(find(0.8999), []);
  const full = { code: 'filesystem_full', subject: '/var' } as const;
  assert.deepEqual(find(0.9), [{ ...full, severity: 'warning', ratio: 0.9 }]);
  assert.deepEqual(find(0.9349), [{ ...full, severity: 'warning', ratio: 0.93 }]);
  assert.deepEqual(find(0.99), [{ ...full, severity: 'error', ratio: 0.99 }]);
});

test('compares a temperature with the critical threshold, else with the high one', () => {
  const sensor = { id: 'a', chip: 'cpu', high_celsius: 80 };
  const find = (extra: { temperature_celsius: number; critical_celsius?: number }) =>
    findNotices({ time, sensors: { temperatures: [{ ...sensor, ...extra }] } });
  const hot = { code: 'temperature_high', subject: 'cpu' } as const;
  assert.deepEqual(find({ temperature_celsius: 79.9 }), []);
  assert.deepEqual(find({ temperature_celsius: 80.6 }), [
    { ...hot, severity: 'warning', celsius: 81 },
  ]);
  assert.deepEqual(find({ temperature_celsius: 99, critical_celsius: 100 }), []);
  assert.deepEqual(find({ temperature_celsius: 100, critical_celsius: 100 }), [
    { ...hot, severity: 'error', celsius: 100 },
  ]);
});
