import type { Pool } from 'pg';

import { systemClock } from '#server/clock.ts';
import { readDatabaseTime } from '#server/db/database-time.ts';
import { startEmbeddedPostgres } from '#server/db/embedded/start.ts';
import { migrate } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import {
  listDrops,
  listEventProps,
  listEventsByDay,
  listEventTotals,
  listEventVersions,
} from '#server/features/analytics/reports/event-reports.ts';
import {
  listActiveMachines,
  listRetention,
  systems,
  listTrialWeeks,
  versions,
} from '#server/features/analytics/reports/usage-reports.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import { addDays, dayOf, type Day } from '#server/features/analytics/rules/days.ts';
import { createLog } from '#server/log.ts';

import { median, type Measurement } from '../lib/report.ts';
import type { Scale } from '../lib/scale.ts';

/** Days with events and usage, ending today. */
const DAYS = 90;

const ROUNDS = 5;
const SLOWEST_REPORT_MS = 300;

/** Forty names, some of them frequent, five versions, a prop with few values and one with very many. */
const INSERT_EVENTS = `
  insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, os_version, props)
  select gen_random_uuid(), $1::timestamptz + number * interval '1 second' * 86400 / $2, md5('i' || number % $3)::uuid,
         gen_random_uuid(), 'event_' || floor(40 * power(random(), 3)), $1, '2.' || number % 5, 'macOS 15',
         jsonb_build_object('plan', (array['free', 'pro', 'team'])[1 + number % 3], 'file', md5((number % 5000)::text))
  from generate_series(0, $2 - 1) as number`;

const INSERT_USE = `
  insert into usage_days (machine_key, day, first_at, last_at, beats, app_version, os_version)
  select md5('m' || (number + 37 * $3) % ($2 * 3))::uuid, $1::date, $1::date, $1::date, 3, '2.' || number % 9,
         (array['macOS 15', 'Windows 11', 'Linux'])[1 + number % 3]
  from generate_series(0, $2 - 1) as number`;

/**
 * Measures each report over all days, and the roll-ups: of all days from scratch, and again after one day changed. Uses
 * a separate database.
 */
export async function measureReports(directory: string, scale: Scale): Promise<Measurement[]> {
  const log = createLog({ level: 'warn' });
  const database = await startEmbeddedPostgres({ dataDirectory: directory, log });
  const pool = createPool(database.connection, { maxConnections: 4, log });
  try {
    await migrate(pool);
    const today = dayOf(new Date());
    await seed(pool, today, scale);
    const everything = await time(() => rollUp(pool));
    await pool.query(INSERT_EVENTS, [`${today}T00:00:00Z`, 1, 1]);
    const again = await time(() => rollUp(pool));
    const size = `${scale.reportedEvents} events and ${scale.reportedMachineDays} machine-days`;
    return [
      { name: `roll-ups of ${size}, from scratch`, value: everything / 1_000, unit: 's' },
      { name: 'roll-ups of the current day', value: again / 1_000, unit: 's' },
      ...(await timeReports(pool, today)),
    ];
  } finally {
    await pool.end();
    await database.stop();
  }
}

async function seed(pool: Pool, today: Day, scale: Scale): Promise<void> {
  const events = Math.ceil(scale.reportedEvents / DAYS);
  const machines = Math.ceil(scale.reportedMachineDays / DAYS);
  for (let ago = DAYS - 1; ago >= 0; ago--) {
    const day = addDays(today, -ago);
    await createPartition(pool, day);
    await pool.query(INSERT_EVENTS, [`${day}T00:00:00Z`, events, machines]);
    await pool.query(INSERT_USE, [day, machines, DAYS - ago]);
    process.stderr.write(`\r  seeded ${DAYS - ago} of ${DAYS} days`);
  }
  process.stderr.write('\n');
  await pool.query('vacuum analyze');
  await pool.query('checkpoint');
}

async function rollUp(pool: Pool): Promise<void> {
  const { signal } = new AbortController();
  const outcome = await runRollups({ pool, clock: systemClock, readDatabaseTime }, { signal });
  if (outcome !== 'finished') throw new Error(`the roll-ups are ${outcome}`);
}

async function timeReports(pool: Pool, today: Day): Promise<Measurement[]> {
  const range = { from: addDays(today, 1 - DAYS), to: today };
  const reports: Readonly<Record<string, () => Promise<readonly unknown[]>>> = {
    'machines by day': () => listActiveMachines(pool, range, 'day'),
    'machines by month': () => listActiveMachines(pool, range, 'month'),
    versions: () => versions.total(pool, range),
    'versions by day': () => versions.daily(pool, range),
    systems: () => systems.total(pool, range),
    events: () => listEventTotals(pool, range),
    'events by day': () => listEventsByDay(pool, range, null),
    'versions of an event': () => listEventVersions(pool, range, 'event_0'),
    'props of an event': () => listEventProps(pool, range, 'event_0', null),
    drops: () => listDrops(pool, range),
    retention: () => listRetention(pool, range),
    trials: () => listTrialWeeks(pool, range, new Date()),
  };
  const measurements: Measurement[] = [];
  for (const [name, read] of Object.entries(reports)) {
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await time(read));
    const goal = { atMost: SLOWEST_REPORT_MS };
    measurements.push({
      name: `report over ${DAYS} days: ${name}`,
      value: median(times),
      unit: 'ms',
      goal,
    });
  }
  return measurements;
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}
