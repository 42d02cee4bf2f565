import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { upsertRun } from '#server/features/analytics/queries/rollup-marks.ts';
import { createPartition } from '#server/features/analytics/queries/partitions.ts';

import { openCommandLine } from '../../../test/test-command-line.ts';

const { pool, run: latchkey } = await openCommandLine();
const run = (...args: string[]) => latchkey('report', ...args);

/** Long past, so that all roll-ups are final. */
const DAYS = ['--from', '2026-03-01', '--to', '2026-03-08'];

async function runJson(...args: string[]) {
  const { code, stdout, stderr } = await run(...args, ...DAYS, '--json');
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

async function storeEvents(day: string, name: string, count: number, props = '{}'): Promise<void> {
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, props)
     select gen_random_uuid(), $1, md5(number::text)::uuid, gen_random_uuid(), $2, $1, '=1.0', $4::jsonb
     from generate_series(1, $3) as number`,
    [`${day}T12:00:00Z`, name, count, props],
  );
}

async function storeUse(day: string, machines: number): Promise<void> {
  await pool.query(
    `insert into usage_days (machine_key, day, first_at, last_at, beats, os_version)
     select md5(number::text)::uuid, $1::date, $1::date, $1::date, 1, 'Linux' from generate_series(1, $2) as number`,
    [day, machines],
  );
}

const LONG_TEXT = 'x'.repeat(1_000);

before(async () => {
  for (const day of ['2026-03-02', '2026-03-03']) await createPartition(pool, day);
  await storeEvents('2026-03-02', 'opened', 3, '{"plan": "pro"}');
  await storeEvents('2026-03-03', 'opened', 2, '{"plan": ""}');
  await storeEvents('2026-03-03', 'saved', 1, JSON.stringify({ error: LONG_TEXT }));
  await storeUse('2026-03-01', 4);
  await storeUse('2026-03-02', 3);
  await storeUse('2026-03-08', 5);
});

test('is empty before the first roll-up, which refresh runs', async () => {
  const early = await run('events', ...DAYS);
  assert.equal(early.code, 0);
  assert.match(early.stderr, /latchkey report refresh/u);
  assert.equal((await run('refresh')).code, 0);
  const late = await run('events', ...DAYS);
  assert.deepEqual(
    [late.code, late.stdout.split('\n'), late.stderr],
    [
      0,
      [
        'NAME    EVENTS  DAYS  MOST INSTALLS',
        'opened  5       2     3',
        'saved   1       1     1',
        '',
      ],
      '',
    ],
  );
});

test('counts machines by day, week and month', async () => {
  const { rows } = await runJson('machines');
  assert.deepEqual(rows.slice(0, 2), [
    { day: '2026-03-01', machines: 4 },
    { day: '2026-03-02', machines: 3 },
  ]);
  assert.equal(rows.length, 8);
  const weeks = await runJson('machines', '--by', 'week');
  assert.deepEqual(weeks.rows, [
    { week: '2026-02-23', machines: 4 },
    { week: '2026-03-02', machines: 5 },
  ]);
  const months = await runJson('machines', '--by', 'month');
  assert.deepEqual(months.rows, [{ month: '2026-03-01', machines: 5 }]);
});

test('reports versions, systems, props, one event and retention', async () => {
  const versions = await run('versions', ...DAYS);
  assert.match(versions.stdout, /^\(unknown\) +12 +100\.0 % +2026-03-08$/mu);
  assert.deepEqual((await runJson('systems', '--by', 'day')).rows[0], {
    day: '2026-03-01',
    system: 'Linux',
    machines: 4,
  });
  assert.deepEqual((await runJson('props', '--name', 'opened', '--key', 'plan')).rows, [
    { key: 'plan', value: 'pro', events: 3 },
    { key: 'plan', value: '', events: 2 },
  ]);
  assert.deepEqual((await runJson('events', '--name', 'saved')).rows, [
    { day: '2026-03-03', name: 'saved', events: 1, installs: 1 },
  ]);
  const retention = await run('retention', ...DAYS);
  assert.deepEqual(retention.stdout.split('\n').slice(0, 3), [
    'FIRST WEEK  MACHINES  WEEK 0   WEEK 1',
    '2026-02-23  4         100.0 %  100.0 %',
    '2026-03-02  1         100.0 %',
  ]);
});

test('cuts a long value in a table, but not in JSON and CSV', async () => {
  const props = ['props', '--name', 'saved', '--key', 'error'];
  const { stdout } = await run(...props, ...DAYS);
  assert.deepEqual(stdout.split('\n')[1], `error  ${'x'.repeat(47)}…  1`);
  assert.equal((await runJson(...props)).rows[0].value, LONG_TEXT);
  assert.ok((await run(...props, '--csv', ...DAYS)).stdout.includes(`error,${LONG_TEXT},1`));
});

test('escapes formulas in CSV', async () => {
  const { stdout } = await run('events', '--name', 'opened', '--by', 'version', '--csv', ...DAYS);
  assert.equal(stdout, "version,events,days,most_installs\r\n'=1.0,5,2,3\r\n");
});

test('reports the time of outdated data', async () => {
  await upsertRun(pool, { finishedAt: new Date('2026-03-09T10:20:00Z'), tookMs: 1 });
  const { stderr, code } = await run('drops');
  assert.equal(code, 0);
  assert.match(stderr, /2026-03-09 10:20 UTC.*latchkey report refresh/u);
  assert.equal((await runJson('drops')).up_to_date_at, '2026-03-09T10:20:00.000Z');
});

function invalid(option: string, value: string): string {
  return `latchkey: option '${option} <date>' argument '${value}' is invalid. Expected a date such as 2027-03-01.`;
}

test('rejects invalid days and ranges, and options that exclude each other (exit code 2)', async () => {
  const refusals = [
    ['machines', '--from', '2027-02-29'],
    ['machines', '--to', 'yesterday'],
    ['machines', '--from', '2026-03-02', '--to', '2026-03-01'],
    ['machines', '--from', '2001-01-01', '--to', '2026-03-01'],
    ['events', '--by', 'version'],
    ['events', '--csv', '--json'],
  ];
  const seen: unknown[] = [];
  for (const args of refusals) {
    const { code, stderr } = await run(...args);
    seen.push([code, stderr.split('\n')[0]]);
  }
  assert.deepEqual(seen, [
    [2, invalid('--from', '2027-02-29')],
    [2, invalid('--to', 'yesterday')],
    [2, 'latchkey: --from 2026-03-02 is after --to 2026-03-01.'],
    [2, 'latchkey: A report covers at most ten years: use a --from after 2001-01-01.'],
    [2, 'latchkey: --by version needs --name.'],
    [2, "latchkey: option '--csv' cannot be used with option '--json'"],
  ]);
});
