import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { createEventDay } from '#server/features/analytics/queries/partitions.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';
import { createVault } from '#server/lib/vault.ts';

import { COMMAND_LINE_SECRET, openCommandLine } from '../../test/test-command-line.ts';

const { directory, pool, run } = await openCommandLine();

test('an install is shown, exported to a file of its own, and erased with a reason', async () => {
  const install = randomUUID();
  await createEventDay(pool, '2026-03-02');
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
  assert.deepEqual([erased.code, erased.stdout], [0, '3 events are erased.\n']);
  const again = await run('install', 'erase', install, '--reason', 'asked for', '--json');
  assert.deepEqual(JSON.parse(again.stdout), { install_id: install, erased_events: 0 });
});

test('one event, and one day of use, are told as one', async () => {
  const install = randomUUID();
  await createEventDay(pool, '2026-03-03');
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
     values (gen_random_uuid(), '2026-03-03T12:00:00Z', $1, gen_random_uuid(), 'opened', now(), '1')`,
    [install],
  );
  const key = toMachineKey(createVault(COMMAND_LINE_SECRET), 'one');
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats) values ($1, '2026-03-03', now(), now(), 1)`,
    [key],
  );
  const events = await run('install', 'erase', install, '--reason', 'asked for');
  const days = await run('machine', 'erase', 'one', '--reason', 'asked for');
  assert.deepEqual(
    [events.stdout, days.stdout],
    ['1 event is erased.\n', '1 day of its use is erased.\n'],
  );
});

test('what is no id is refused with one sentence', async () => {
  const { code, stderr } = await run('install', 'show', 'everything');
  assert.equal(code, 2);
  assert.match(stderr, /It must be an id such as 6f1c2b9e-/u);
});

test('the use of a machine is erased by the id that its heartbeats tell', async () => {
  const key = toMachineKey(createVault(COMMAND_LINE_SECRET), ' a machine');
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats)
     select $1, day, now(), now(), 1 from generate_series('2026-03-01'::date, '2026-03-02'::date, '1 day') as day`,
    [key],
  );
  const other = await run('machine', 'erase', 'a machine', '--reason', 'asked for');
  assert.deepEqual([other.code, other.stdout], [0, 'It was never used.\n']);
  const erased = await run('machine', 'erase', ' a machine', '--reason', 'asked for');
  assert.deepEqual([erased.code, erased.stdout], [0, '2 days of its use are erased.\n']);
  assert.equal((await pool.query('select from usage_days')).rows.length, 0);
});
