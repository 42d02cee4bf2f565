import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { beforeEach, test } from 'node:test';

import * as fc from 'fast-check';

import { inTransaction } from '#server/db/transaction.ts';

import { openTestPool } from '../../../../test/database-pool.ts';
import { eventually } from '../../../../test/eventually.ts';
import { createTestClock, DAY_MS, HOUR_MS } from '../../../../test/test-clock.ts';
import { createPartition } from '../queries/partitions.ts';
import { tryLock } from '../queries/transactions.ts';
import { addDays, type Day } from '../rules/days.ts';
import { aggregatePlainly, readRollups } from './plain-aggregates.fixture.ts';
import { runRollups } from './run-rollups.ts';

const pool = await openTestPool();
const clock = createTestClock();

/** A Sunday and the last of its month, so that the days lie in two weeks, and two months. */
const FIRST: Day = '2027-02-28';
const START = new Date('2027-03-04T12:00:00Z');

const days = [FIRST, addDays(FIRST, 1), addDays(FIRST, 2)];
for (const day of days) await createPartition(pool, day);

beforeEach(async () => {
  await pool.query(`truncate events, usage_days, rollup_marks, rollup_run, event_name_days, event_days, event_prop_days,
    usage_totals, usage_version_days, usage_system_days, usage_first_days, usage_retention, trial_conversions, trial_days, license_days,
    licenses, activations`);
  clock.set(START);
});

function uuidOf(text: string): string {
  const digits = createHash('sha256').update(text).digest('hex');
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20, 32),
  ].join('-');
}

interface StoredEvent {
  readonly day: Day;
  readonly install: number;
  readonly name: string;
  readonly version: string;
  readonly props: Readonly<Record<string, string>> | null;
}

async function storeEvent({ day, install, name, version, props }: StoredEvent): Promise<void> {
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, props)
     values (gen_random_uuid(), $1, $2, gen_random_uuid(), $3, $1, $4, $5)`,
    [`${day}T23:59:59.999Z`, uuidOf(`install ${install}`), name, version, props],
  );
}

interface StoredBeat {
  readonly day: Day;
  readonly machine: number;
  readonly version: string | null;
}

async function storeBeat({ day, machine, version }: StoredBeat): Promise<void> {
  await pool.query(
    `insert into usage_days as known (machine_key, day, first_at, last_at, beats, app_version, os_version)
     values ($1, $2, $3, $3, 1, $4, $4)
     on conflict (machine_key, day) do update
     set beats = known.beats + 1, app_version = coalesce(excluded.app_version, known.app_version),
         os_version = excluded.os_version`,
    [uuidOf(`machine ${machine}`), day, `${day}T00:00:00Z`, version],
  );
}

const idle = new AbortController().signal;

/** The database's machine has the same clock. */
const deps = { pool, clock, readDatabaseTime: async () => clock.now() };

async function rollUp(everything = false) {
  return runRollups(deps, { signal: idle, everything });
}

const anyDay = fc.constantFrom(...days);
const anyEvent: fc.Arbitrary<StoredEvent> = fc.record({
  day: anyDay,
  install: fc.integer({ min: 1, max: 3 }),
  name: fc.constantFrom('opened', 'saved', 'Ünïcode "quoted"'),
  version: fc.constantFrom('1.0', '2.0', ''),
  props: fc.option(
    fc.dictionary(fc.constantFrom('plan', ''), fc.constantFrom('pro', 'free', ''), { maxKeys: 2 }),
  ),
});
const anyBeat: fc.Arbitrary<StoredBeat> = fc.record({
  day: anyDay,
  machine: fc.integer({ min: 1, max: 4 }),
  version: fc.constantFrom('1.0', '2.0', null),
});

type Step = { readonly event: StoredEvent } | { readonly beat: StoredBeat } | 'roll up';
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: anyEvent.map((event) => ({ event })) },
  { weight: 4, arbitrary: anyBeat.map((beat) => ({ beat })) },
  { weight: 1, arbitrary: fc.constant('roll up' as const) },
);

test('roll-ups equal plain aggregates for any rows that arrive between runs', async () => {
  const steps = fc.array(anyStep, { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc
      .asyncProperty(steps, async (taken) => {
        // The first day ended less than a day ago, the last one has not started: none of them is final.
        clock.set(new Date('2027-03-01T23:00:00Z'));
        for (const step of taken) {
          if (step === 'roll up') await rollUp();
          else if ('event' in step) await storeEvent(step.event);
          else await storeBeat(step.beat);
        }
        clock.set(START);
        assert.equal(await rollUp(), 'finished');
        assert.deepEqual(await readRollups(pool), await aggregatePlainly(pool));
        await pool.query('update rollup_marks set measure = null');
        await rollUp();
        assert.deepEqual(await readRollups(pool), await aggregatePlainly(pool));
      })
      .beforeEach(async () => {
        await pool.query(`truncate events, usage_days, rollup_marks, event_name_days, event_days, event_prop_days,
          usage_totals, usage_version_days, usage_system_days, usage_first_days, usage_retention`);
      }),
    { numRuns: 25 },
  );
});

test('corrects the first day of a machine when an earlier day changes', async () => {
  clock.set(new Date(`${addDays(FIRST, 1)}T00:00:01Z`));
  await storeBeat({ day: addDays(FIRST, 1), machine: 1, version: null });
  await rollUp();
  assert.deepEqual((await readRollups(pool))['usage_retention'], ['["2027-03-01","2027-03-01",1]']);
  await storeBeat({ day: FIRST, machine: 1, version: null });
  await rollUp();
  assert.deepEqual((await readRollups(pool))['usage_retention'], [
    '["2027-02-22","2027-02-22",1]',
    '["2027-02-22","2027-03-01",1]',
  ]);
});

/** Whether a statement of this database with this start waits for a lock. */
async function isWaiting(start: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and starts_with(query, $1)`,
    [start],
  );
  return rowCount === 1;
}

async function readColumn(text: string): Promise<unknown[]> {
  const { rows } = await pool.query<unknown[]>({ text, rowMode: 'array' });
  return rows.map(([value]) => value);
}

test('does not rewrite an unchanged day, which is final a day after its end', async () => {
  await storeEvent({ day: FIRST, install: 1, name: 'opened', version: '1', props: null });
  clock.set(new Date(`${FIRST}T23:00:00Z`));
  await rollUp();
  const [first] = await readColumn('select xmin::text from event_name_days');
  clock.advance(HOUR_MS);
  await rollUp();
  assert.deepEqual(await readColumn('select xmin::text from event_name_days'), [first]);
  clock.advance(DAY_MS);
  await rollUp();
  await storeEvent({ day: FIRST, install: 1, name: 'saved', version: '1', props: null });
  await rollUp();
  assert.deepEqual(await readColumn('select name from event_name_days'), ['opened']);
});

test("makes no day final before the database's clock has passed it too", async () => {
  clock.set(new Date(`${FIRST}T12:00:00Z`));
  const ahead = { now: () => new Date(clock.now().getTime() + 3 * DAY_MS) };
  const rollUpAhead = () => runRollups({ ...deps, clock: ahead }, { signal: idle });
  await storeEvent({ day: FIRST, install: 1, name: 'opened', version: '1', props: null });
  await storeBeat({ day: FIRST, machine: 1, version: null });
  await rollUpAhead();
  await storeEvent({ day: FIRST, install: 2, name: 'opened', version: '1', props: null });
  await storeBeat({ day: FIRST, machine: 2, version: null });
  await rollUpAhead();
  const totals = `select machines from usage_totals where period = 'day'`;
  assert.deepEqual(await readColumn('select events from event_name_days'), [2]);
  assert.deepEqual(await readColumn(totals), [2]);
  // Days of a process whose clock is ahead are rolled up as they arrive.
  await storeBeat({ day: addDays(FIRST, 2), machine: 1, version: null });
  await rollUpAhead();
  assert.deepEqual(await readColumn(totals), [2, 1]);
});

test('includes rows that arrived after a day was final when everything is rolled up', async () => {
  const event = { day: FIRST, install: 1, name: 'opened', version: '1', props: null };
  await storeEvent(event);
  await rollUp();
  await storeEvent(event);
  await rollUp();
  assert.deepEqual(await readColumn('select events from event_name_days'), [1]);
  await rollUp(true);
  assert.deepEqual(await readColumn('select events from event_name_days'), [2]);
});

test('counts an event that is committed after the end of its day', async () => {
  clock.set(new Date(`${addDays(FIRST, 1)}T00:00:01Z`));
  await storeEvent({ day: FIRST, install: 1, name: 'opened', version: '1', props: null });
  await inTransaction(pool, async (client) => {
    await client.query(
      `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
       values (gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'opened', $1, '1')`,
      [`${FIRST}T23:59:59.900Z`],
    );
    await rollUp();
    assert.deepEqual(await readColumn('select events from event_name_days'), [1]);
  });
  await rollUp();
  assert.deepEqual(await readColumn('select events from event_name_days'), [2]);
});

test('sums rare names and property values in one row', async () => {
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, props)
     select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'opened', $1, '1',
            jsonb_build_object('value', lpad(least(value, 150)::text, 3, '0'))
     from generate_series(1, 160) as value`,
    [`${FIRST}T12:00:00Z`],
  );
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
     select gen_random_uuid(), $1, gen_random_uuid(), gen_random_uuid(), 'name ' || lpad(number::text, 4, '0'), $1, '1'
     from generate_series(1, 510) as number`,
    [`${FIRST}T12:00:00Z`],
  );
  await rollUp();
  const props = await pool.query(
    'select rank, value, events from event_prop_days where rank in (1, 2, 100, 101) order by rank',
  );
  assert.deepEqual(props.rows, [
    { rank: 1, value: '150', events: 11 },
    { rank: 2, value: '001', events: 1 },
    { rank: 100, value: '099', events: 1 },
    { rank: 101, value: null, events: 50 },
  ]);
  const names = await pool.query(
    'select rank, name, events, installs from event_name_days where rank in (1, 500, 501) order by rank',
  );
  assert.deepEqual(names.rows, [
    { rank: 1, name: 'opened', events: 160, installs: 160 },
    { rank: 500, name: 'name 0499', events: 1, installs: 1 },
    { rank: 501, name: null, events: 11, installs: null },
  ]);
  assert.deepEqual(await readColumn('select count(*) from event_days'), [500]);
});

test('returns busy while another process is rolling up', async () => {
  await storeEvent({ day: FIRST, install: 1, name: 'opened', version: '1', props: null });
  await inTransaction(pool, async (client) => {
    assert.notEqual(await tryLock(client, 'roll-ups'), null);
    assert.equal(await rollUp(), 'busy');
  });
  assert.deepEqual(await readColumn('select count(*) from event_name_days'), [0]);
  assert.equal(await rollUp(), 'finished');
});

test('an abort cancels the running statement', async () => {
  const stopping = new AbortController();
  await storeEvent({ day: FIRST, install: 1, name: 'opened', version: '1', props: null });
  await inTransaction(pool, async (client) => {
    await client.query('lock table events in access exclusive mode');
    const running = runRollups(deps, { signal: stopping.signal });
    await eventually(() => isWaiting('select count(*)'));
    stopping.abort();
    await assert.rejects(running, { code: '57014' });
  });
  // The server reports the cancellation, and releases the lock a little later.
  await eventually(async () => (await rollUp()) === 'finished');
});

test('a day that is marked during its roll-up is rolled up again', async () => {
  await storeEvent({ day: FIRST, install: 1, name: 'opened', version: '1', props: null });
  await rollUp();
  await storeEvent({ day: FIRST, install: 2, name: 'opened', version: '1', props: null });
  await pool.query('update rollup_marks set measure = null');
  const started = await inTransaction(pool, async (client) => {
    await client.query('lock table event_prop_days in share mode');
    // Its last write waits until this transaction ends; until then, its mark of the day is not committed.
    const running = rollUp();
    await eventually(() => isWaiting('delete from event_prop'));
    const erasing = inTransaction(pool, async (other) => {
      await other.query('delete from events where install_id = $1', [uuidOf('install 1')]);
      await other.query('update rollup_marks set measure = null');
    });
    await eventually(() => isWaiting('update rollup_marks'));
    return { running, erasing };
  });
  assert.equal(await started.running, 'finished');
  await started.erasing;
  assert.deepEqual(await readColumn('select events from event_name_days'), [2]);
  await rollUp();
  assert.deepEqual(await readColumn('select events from event_name_days'), [1]);
});

interface StoredActivation {
  readonly trial: boolean;
  readonly at: string;
  readonly machine?: string;
  readonly install?: string;
}

async function storeActivation({ trial, at, machine, install }: StoredActivation): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into licenses (id, product_id, tier, features, max_activations, trial, key_sealed, key_hint, created_at)
     values (gen_random_uuid(), 'personal', 'personal', '{}', 2, $1, '', '', $2) returning id`,
    [trial, at],
  );
  await pool.query(
    `insert into activations (license_id, id, machine_id, components, machine_digest, install_id, activated_at, last_validated_at,
                              versions_reported_at)
     values ($1, gen_random_uuid(), $2, '{}', '', $3, $4, $4, $4)`,
    [rows[0]?.id, machine ?? null, install ?? null, at],
  );
}

test('counts a trial as paid once when its machine or install has a license within 14 days', async () => {
  const trial = { trial: true, at: '2027-02-24T12:00:00Z' };
  const sold = { trial: false, at: '2027-03-10T11:59:59Z' };
  const install = uuidOf('install');
  await storeActivation({ ...trial, machine: 'a', install });
  await storeActivation({ ...sold, machine: 'a', install });
  await storeActivation({ ...sold, machine: 'a' });
  await storeActivation({ ...trial, install: uuidOf('other install') });
  await storeActivation({ ...sold, machine: 'x', install: uuidOf('other install') });
  await storeActivation({ ...trial, machine: 'late' });
  await storeActivation({ ...sold, machine: 'late', at: '2027-03-10T12:00:00Z' });
  await storeActivation({ ...trial, machine: 'before' });
  await storeActivation({ ...sold, machine: 'before', at: '2027-02-24T11:00:00Z' });
  await storeActivation({ ...trial, machine: 'second trial' });
  await storeActivation({ ...trial, machine: 'second trial', at: '2027-03-01T00:00:00Z' });
  clock.set(new Date('2027-03-20T12:00:00Z'));
  await rollUp();
  const text = `select to_char(day, 'YYYY-MM-DD') as day, bought_product_id as bought, trials from trial_days order by 1, 2`;
  assert.deepEqual((await pool.query(text)).rows, [
    { day: '2027-02-24', bought: '', trials: 3 },
    { day: '2027-02-24', bought: 'personal', trials: 2 },
    { day: '2027-03-01', bought: '', trials: 1 },
  ]);
});

const CONVERTED = `select count(*) from trial_days where bought_product_id <> ''`;

test('rolls up trials until two weeks after their own, at most once an hour', async () => {
  await storeActivation({ trial: true, at: '2027-02-28T23:59:59Z', machine: 'a' });
  await rollUp();
  await storeActivation({ trial: false, at: '2027-03-14T23:00:00Z', machine: 'a' });
  clock.advance(HOUR_MS - 1);
  await rollUp();
  assert.deepEqual(await readColumn(CONVERTED), [0]);
  clock.advance(1);
  await rollUp();
  assert.deepEqual(await readColumn(CONVERTED), [1]);
  clock.set(new Date('2027-03-22T00:00:00Z'));
  await rollUp();
  await pool.query('delete from activations');
  clock.advance(HOUR_MS);
  await rollUp();
  assert.deepEqual(await readColumn(CONVERTED), [1]);
});
