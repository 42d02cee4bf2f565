import assert from 'node:assert/strict';
import { test } from 'node:test';

import { openTestPool } from '../../../../test/database-pool.ts';
import {
  listDrops,
  listEventProps,
  listEventsByDay,
  listEventTotals,
  listEventVersions,
} from './event-reports.ts';
import {
  listActiveMachines,
  listRetention,
  systems,
  listTrialWeeks,
  versions,
} from './usage-reports.ts';

const pool = await openTestPool();

/** Saturday to Monday, over the end of a month. */
const RANGE = { from: '2027-02-27', to: '2027-03-01' };

test('lists machines for each day, week and month of the range, 0 where there were none', async () => {
  await pool.query(`insert into usage_totals (period, starts, machines) values
    ('day', '2027-02-26', 9), ('day', '2027-02-27', 1), ('day', '2027-03-01', 2), ('day', '2027-03-02', 9),
    ('week', '2027-02-22', 3), ('month', '2027-02-01', 4), ('month', '2027-03-01', 5)`);
  assert.deepEqual(await listActiveMachines(pool, RANGE, 'day'), [
    { starts: '2027-02-27', machines: 1 },
    { starts: '2027-02-28', machines: 0 },
    { starts: '2027-03-01', machines: 2 },
  ]);
  assert.deepEqual(await listActiveMachines(pool, RANGE, 'week'), [
    { starts: '2027-02-22', machines: 3 },
    { starts: '2027-03-01', machines: 0 },
  ]);
  assert.deepEqual(await listActiveMachines(pool, RANGE, 'month'), [
    { starts: '2027-02-01', machines: 4 },
    { starts: '2027-03-01', machines: 5 },
  ]);
});

test('lists versions and systems by use, and by day', async () => {
  for (const [table, column] of [
    ['usage_version_days', 'app_version'],
    ['usage_system_days', 'os_version'],
  ]) {
    await pool.query(`insert into ${table} (day, rank, ${column}, machines) values
      ('2027-02-26', 1, 'old', 9), ('2027-02-27', 1, 'a', 3), ('2027-02-27', 2, '', 1), ('2027-03-01', 1, null, 4)`);
  }
  for (const reports of [versions, systems]) {
    assert.deepEqual(await reports.total(pool, RANGE), [
      { version: null, machineDays: 4, share: 0.5, lastDay: '2027-03-01' },
      { version: 'a', machineDays: 3, share: 0.375, lastDay: '2027-02-27' },
      { version: '', machineDays: 1, share: 0.125, lastDay: '2027-02-27' },
    ]);
    assert.deepEqual(await reports.daily(pool, RANGE), [
      { day: '2027-02-27', version: 'a', machines: 3 },
      { day: '2027-02-27', version: '', machines: 1 },
      { day: '2027-03-01', version: null, machines: 4 },
    ]);
  }
});

test('lists events by name, by day and by version', async () => {
  await pool.query(`insert into event_name_days (day, rank, name, events, installs) values
    ('2027-02-26', 1, 'opened', 99, 9), ('2027-02-27', 1, 'opened', 3, 2), ('2027-02-27', 2, 'saved', 2, 1),
    ('2027-03-01', 1, 'opened', 4, 3), ('2027-03-01', 501, null, 1, null)`);
  await pool.query(`insert into event_days (name, day, rank, app_version, events, installs) values
    ('opened', '2027-02-27', 1, '1.0', 2, 2), ('opened', '2027-02-27', 2, '', 1, 1),
    ('opened', '2027-03-01', 1, '1.0', 4, 3), ('saved', '2027-03-01', 1, '1.0', 50, 3)`);
  assert.deepEqual(await listEventTotals(pool, RANGE), [
    { name: 'opened', events: 7, days: 2, mostInstalls: 3 },
    { name: 'saved', events: 2, days: 1, mostInstalls: 1 },
    { name: null, events: 1, days: 1, mostInstalls: null },
  ]);
  assert.deepEqual(await listEventsByDay(pool, RANGE, 'opened'), [
    { day: '2027-02-27', name: 'opened', events: 3, installs: 2 },
    { day: '2027-03-01', name: 'opened', events: 4, installs: 3 },
  ]);
  assert.equal((await listEventsByDay(pool, RANGE, null)).length, 4);
  assert.deepEqual(await listEventVersions(pool, RANGE, 'opened'), [
    { version: '1.0', events: 6, days: 2, mostInstalls: 3 },
    { version: '', events: 1, days: 1, mostInstalls: 1 },
  ]);
});

test('lists properties of an event by key and value', async () => {
  await pool.query(`insert into event_prop_days (name, day, key, rank, value, events) values
    ('opened', '2027-02-27', 'plan', 1, 'pro', 2), ('opened', '2027-02-27', 'plan', 2, 'free', 1),
    ('opened', '2027-03-01', 'plan', 1, 'free', 5), ('opened', '2027-03-01', 'plan', 101, null, 1),
    ('opened', '2027-03-01', 'theme', 1, 'dark', 6), ('opened', '2027-03-02', 'theme', 1, 'dark', 60),
    ('saved', '2027-03-01', 'plan', 1, 'free', 50)`);
  const plans = [
    { key: 'plan', value: 'free', events: 6 },
    { key: 'plan', value: 'pro', events: 2 },
    { key: 'plan', value: null, events: 1 },
  ];
  assert.deepEqual(await listEventProps(pool, RANGE, 'opened', null), [
    ...plans,
    { key: 'theme', value: 'dark', events: 6 },
  ]);
  assert.deepEqual(await listEventProps(pool, RANGE, 'opened', 'plan'), plans);
});

test('lists drops by day and reason', async () => {
  await pool.query(`insert into event_drops (day, reason, events) values
    ('2027-02-26', 'name', 9), ('2027-02-27', 'name', 1), ('2027-02-27', 'duplicate', 3), ('2027-03-01', 'props', 2)`);
  assert.deepEqual(await listDrops(pool, RANGE), [
    { day: '2027-02-27', reason: 'duplicate', events: 3 },
    { day: '2027-02-27', reason: 'name', events: 1 },
    { day: '2027-03-01', reason: 'props', events: 2 },
  ]);
});

test('lists retention from the week in which the range starts to its end', async () => {
  await pool.query(`insert into usage_retention (cohort, week, machines) values
    ('2027-02-15', '2027-02-15', 9), ('2027-02-22', '2027-02-22', 8), ('2027-02-22', '2027-03-01', 6),
    ('2027-02-22', '2027-03-08', 1), ('2027-03-01', '2027-03-01', 4), ('2027-03-08', '2027-03-08', 5)`);
  assert.deepEqual(await listRetention(pool, RANGE), [
    { cohort: '2027-02-22', newMachines: 8, weeksLater: 0, machines: 8 },
    { cohort: '2027-02-22', newMachines: 8, weeksLater: 1, machines: 6 },
    { cohort: '2027-03-01', newMachines: 4, weeksLater: 0, machines: 4 },
  ]);
});

test('trials are open until two weeks after their week', async () => {
  await pool.query(`insert into trial_days (day, product_id, bought_product_id, trials) values
    ('2027-02-21', 'a', 'b', 9), ('2027-02-22', 'a', '', 5), ('2027-02-28', 'a', 'b', 2), ('2027-02-28', 'c', '', 1),
    ('2027-03-01', 'a', '', 4), ('2027-03-08', 'a', 'b', 1)`);
  assert.deepEqual(await listTrialWeeks(pool, RANGE, new Date('2027-03-15T00:00:00Z')), [
    { week: '2027-02-22', trials: 8, paid: 2, share: 0.25, open: false },
    { week: '2027-03-01', trials: 4, paid: 0, share: 0, open: true },
  ]);
});
