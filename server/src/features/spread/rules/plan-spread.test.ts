import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ClusterFacts, ClusterNode } from '../facts.ts';
import { DATABASE_SETTINGS } from './layout.ts';
import { describeSpread, planSpread } from './plan-spread.ts';

const worker: ClusterNode = {
  name: 'worker:5432',
  isCoordinator: false,
  isActive: true,
  holdsShards: true,
  maxPreparedTransactions: 200,
};
const coordinator = { ...worker, name: 'main:5432', isCoordinator: true, holdsShards: false };

const ready: ClusterFacts = {
  citusVersion: '13.2-1',
  isDirect: true,
  nodes: [coordinator, worker],
  tables: [],
  isOwner: true,
  settings: DATABASE_SETTINGS,
};

const events = { table: 'events', column: 'install_id', colocationId: 1, shards: 8 };
const eventIds = { table: 'event_ids', column: 'event_id', colocationId: 2, shards: 8 };

test('spreads events and their ids, and usage only on request', () => {
  const names = (withUsage: boolean) =>
    planSpread(ready, withUsage).toSpread.map(({ table, column }) => `${table} by ${column}`);
  assert.deepEqual(names(false), ['events by install_id', 'event_ids by event_id']);
  assert.deepEqual(names(true), [
    'events by install_id',
    'event_ids by event_id',
    'usage_days by machine_key',
    'usage_first_days by machine_key',
  ]);
  assert.deepEqual(planSpread(ready, true).problems, []);
});

test('leaves out what is spread', () => {
  const plan = planSpread({ ...ready, tables: [events, eventIds] }, false);
  assert.deepEqual([plan.problems, plan.toSpread], [[], []]);
  assert.deepEqual(
    plan.alreadySpread.map(({ table }) => table),
    ['events', 'event_ids'],
  );
});

test('changes only the settings with other values, and describes what it changes', () => {
  const name = 'citus.multi_shard_modify_mode';
  const settings = { ...DATABASE_SETTINGS, [name]: 'parallel' };
  const both = planSpread({ ...ready, settings }, false);
  assert.deepEqual(both.settingsToChange, [name]);
  assert.deepEqual(describeSpread(both), { tables: 'events, event_ids', settings: name });
  const tables = [events, eventIds];
  const settingsOnly = planSpread({ ...ready, tables, settings }, false);
  assert.deepEqual(describeSpread(settingsOnly), { settings: name });
  assert.deepEqual(describeSpread(planSpread(ready, false)), { tables: 'events, event_ids' });
});

const unprepared = { ...worker, maxPreparedTransactions: 0 };
const silent = { ...worker, maxPreparedTransactions: null };
const refusals: Readonly<Record<string, [Partial<ClusterFacts>, RegExp]>> = {
  'no Citus': [{ citusVersion: null, nodes: [] }, /^This database has no Citus,/],
  'an old Citus': [{ citusVersion: '12.1-1' }, /^This is Citus 12\.1-1; version 13 or newer/],
  'a pooler': [{ isDirect: false }, /^DATABASE_URL leads to a pooler:/],
  'another owner': [{ isOwner: false }, /^The role of DATABASE_URL must own the database/],
  'no worker': [{ nodes: [coordinator] }, /^This server is no coordinator, because it knows no/],
  'a disabled worker': [
    { nodes: [coordinator, { ...worker, isActive: false }] },
    /^This server is no coordinator/,
  ],
  'no prepared transactions': [
    { nodes: [coordinator, unprepared] },
    /^max_prepared_transactions is 0 on the server worker:5432,/,
  ],
  'a silent worker': [
    { nodes: [coordinator, silent] },
    /^The server worker:5432 does not answer: start it,/,
  ],
  'another column': [
    { tables: [{ ...events, column: 'event_id' }] },
    /^The table events is distributed by event_id, but must be by install_id: undo that/,
  ],
  'a reference table': [
    { tables: [{ ...eventIds, column: null }] },
    /^The table event_ids is not distributed by a column, but must be by event_id: undo that/,
  ],
  'a table that must stay': [
    { tables: [{ ...events, table: 'licenses', column: 'id' }] },
    /^The table licenses is managed by Citus, but must stay local: undo that with select undistribute_table\('licenses'\)\.$/,
  ],
};

for (const [name, [facts, sentence]] of Object.entries(refusals)) {
  test(`refuses ${name} with one sentence`, () => {
    const { problems } = planSpread({ ...ready, ...facts }, false);
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', sentence);
  });
}
