/** Ninety days of use and of events, jobs in every state, and roll-ups. */
import {
  createPartition,
  listPartitionDays,
} from '../../../server/src/features/analytics/queries/partitions.ts';
import { runRollups } from '../../../server/src/features/analytics/rollups/run-rollups.ts';
import { addJobs } from '../../../server/src/jobs/add-jobs.ts';
import { scheduleSingletons } from '../../../server/src/jobs/queries.ts';
import type { TestService } from '../../../server/test/harness.ts';
import type { World } from './create-world.ts';

const DAY_MS = 86_400_000;
const DAYS = 75;

/** Grows, with fewer machines at weekends. */
const USE = `
  insert into usage_days (machine_key, day, first_at, last_at, beats, app_version, os_version)
  select md5('machine in use ' || number)::uuid, day, day, day, 3,
         case when number % 7 = 0 then null when day - $1::date > 40 + number % 20 then '2.4.0' else '2.3.1' end,
         (array['macOS 15.1', 'Windows 11', 'Windows 10', 'Ubuntu 24.04', 'macOS 14.6'])[1 + number % 5]
  from generate_series($1::date, $2::date, '1 day') as each (day_at), lateral (select day_at::date as day) as at,
       generate_series(1, 90 + (day - $1::date)) as number
  where (extract(isodow from day) < 6 or number % 3 = 0) and (number + extract(doy from day)::integer) % 4 <> 0
  on conflict do nothing`;

const EVENTS = `
  insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, os_version, props)
  select gen_random_uuid(), $1, md5('install ' || number)::uuid, md5('session ' || number)::uuid,
         (array['app_started', 'app_started', 'project_opened', 'export_finished', 'licence_dialog_opened'])[1 + number % 5], $1,
         case when number % 3 = 0 then '2.3.1' else '2.4.0' end, 'macOS 15.1',
         jsonb_build_object('format', (array['pdf', 'png', 'svg'])[1 + number % 3], 'pages', (number % 9)::text)
  from generate_series(1, $2::integer) as number`;

const EVENT_ID = '0190a6b2-7c1e-7d32-9c41-0000000e7e01';
const INSTALL_ID = '3f2b8c1e-7c1e-4d32-9c41-0000000e7e01';

const ONE_EVENT = `
  with incoming as (insert into event_ids values ($1, $3) returning *)
  insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version, os_version, props)
  select event_id, received_at, $2, $2, 'export_finished', received_at, '2.4.0', 'macOS 15.1', '{"format": "pdf"}'
  from incoming`;

/** Creates use, events and jobs. */
export async function seedUsage(service: TestService): Promise<World> {
  const { clock, context, pool } = service;
  const today = clock.now().toISOString().slice(0, 10);
  const dayBefore = (days: number): string =>
    new Date(Date.parse(today) - days * DAY_MS).toISOString().slice(0, 10);
  await pool.query(USE, [dayBefore(DAYS), today]);
  const existing = await listPartitionDays(pool);
  for (let days = 40; days >= 0; days -= 1) {
    if (!existing.includes(dayBefore(days))) await createPartition(pool, dayBefore(days));
    const count = 30 + (40 - days) * 2 + ((days * 7) % 11) * 3;
    await pool.query(EVENTS, [`${dayBefore(days)}T00:00:00Z`, count]);
  }
  await pool.query(ONE_EVENT, [EVENT_ID, INSTALL_ID, `${today}T00:00:01Z`]);
  await pool.query(
    `insert into event_drops values ($1, 'usage_sharing_off', 12) on conflict do nothing`,
    [today],
  );
  const { signal } = new AbortController();
  await runRollups(context, { signal, everything: true });
  await seedJobs(service);
  return { eventId: EVENT_ID, installId: INSTALL_ID };
}

async function seedJobs({ context, pool }: TestService): Promise<void> {
  const jobs = ['txn_failed', 'txn_retrying', 'txn_waiting'].map((transactionId) => ({
    name: 'send_key_email' as const,
    payload: { provider: 'paddle', transactionId },
    key: transactionId,
    maxAttempts: 3,
  }));
  await addJobs(pool, jobs);
  await pool.query(
    `update jobs set attempts = case when key like '%txn_failed' then 3 else 1 end, failed_at = now(),
            run_at = now() + interval '1 hour', last_error = 'the mail relay did not accept it: timeout'
     where key like '%txn_failed' or key like '%txn_retrying'`,
  );
  const task = { event: 'test.task', intervalMs: 300_000, run: async () => {} };
  context.taskStatuses.declare([
    { ...task, name: 'rollups', scope: 'singleton', action: 'roll up usage and events' },
    { ...task, name: 'reconcile', scope: 'singleton', action: "compare Paddle's event log" },
    { ...task, name: 'backlog', scope: 'process', action: 'count the backlog' },
  ]);
  await scheduleSingletons(pool, ['rollups', 'reconcile'], []);
  await pool.query(
    `update jobs set finished_at = now(), took_ms = 412, run_at = now() + interval '5 minutes',
            failed_at = case name when 'reconcile' then now() end,
            last_error = case name when 'reconcile' then 'Paddle answered 401' end
     where name in ('rollups', 'reconcile')`,
  );
}
