import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';
import { createVault } from '#server/lib/vault.ts';

import { COMMAND_LINE_SECRET, openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, run, runJson } = await openCommandLine();

test('shows, exports and erases an install', async () => {
  const install = randomUUID();
  await createPartition(pool, '2026-03-02');
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
     select gen_random_uuid(), '2026-03-02T12:00:00Z', $1, gen_random_uuid(), 'opened', now(), '1'
     from generate_series(1, 3)`,
    [install],
  );
  const shown = await run('install', 'show', install.toUpperCase());
  assert.deepEqual(shown.stdout.split('\n'), [
    `install       ${install}`,
    'shares usage  yes',
    'events        3',
    'first day     2026-03-02',
    'last day      2026-03-02',
    '',
    'EVENT   COUNT',
    'opened  3',
    '',
  ]);

  const exported = await run('install', 'export', install, '--output', 'install.json');
  assert.equal(exported.code, 0, exported.stderr);
  const file = join(directory, 'install.json');
  assert.equal(JSON.parse(readFileSync(file, 'utf8')).events.length, 3);
  assert.equal(statSync(file).mode & 0o777, 0o600);

  const unreasoned = await run('install', 'erase', install);
  assert.equal(unreasoned.code, 2);
  const erased = await run('install', 'erase', install, '--reason', 'asked for');
  assert.deepEqual([erased.code, erased.stdout], [0, 'Erased 3 events.\n']);
  const again = await run('install', 'erase', install, '--reason', 'asked for', '--json');
  assert.deepEqual(JSON.parse(again.stdout), {
    install_id: install,
    erased_events: 0,
    archives: [],
  });
});

test('an erasure names the archives that may contain more events', async () => {
  for (const [day, location] of [
    ['2026-01-01', '/archive'],
    ['2026-01-03', '/archive'],
    ['2026-01-02', 's3://bucket/prefix'],
  ]) {
    await pool.query(
      `insert into event_archives (day, location, events, checksum, archived_at) values ($1, $2, 1, '1', now())`,
      [day, location],
    );
  }
  const args = ['install', 'erase', randomUUID(), '--reason', 'asked for'];
  const { code, stderr } = await run(...args);
  assert.equal(code, 0);
  assert.deepEqual(stderr.split('\n').slice(1), [
    '  /archive: 2 days, 2026-01-01 to 2026-01-03',
    '  s3://bucket/prefix: 1 day, 2026-01-02 to 2026-01-02',
    '',
  ]);
  assert.match(stderr, /^Archived events are not erased\./u);
  const { archives } = await runJson(...args);
  assert.deepEqual(archives, [
    { location: '/archive', days: 2, first_day: '2026-01-01', last_day: '2026-01-03' },
    { location: 's3://bucket/prefix', days: 1, first_day: '2026-01-02', last_day: '2026-01-02' },
  ]);
});

test('rejects what is not an id (exit code 2)', async () => {
  const { code, stderr } = await run('install', 'show', 'everything');
  assert.equal(code, 2);
  assert.match(stderr, /an id such as 6f1c2b9e-/u);
});

test('erases the usage of a machine by the id in its heartbeats', async () => {
  const key = toMachineKey(createVault(COMMAND_LINE_SECRET), ' a machine');
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats)
     select $1, day, now(), now(), 1 from generate_series('2026-03-01'::date, '2026-03-02'::date, '1 day') as day`,
    [key],
  );
  const reason = ['--reason', 'asked for'];
  const other = await runJson('machine', 'erase', 'a machine', ...reason);
  assert.equal(other.erased_days, 0);
  const erased = await runJson('machine', 'erase', ' a machine', ...reason);
  assert.deepEqual(erased, { machine_id: ' a machine', erased_days: 2 });
  assert.equal((await pool.query('select from usage_days')).rows.length, 0);
});
