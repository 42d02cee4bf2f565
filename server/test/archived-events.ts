import type { Pool } from 'pg';

import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import { runRollups } from '#server/features/analytics/rollups/run-rollups.ts';
import type { TimeDependencies } from '#server/features/analytics/rollups/maintenance-transaction.ts';

/**
 * Stores events of a past day: of ten installs and three names, with and without props, versions and corrected times, and with
 * texts that are hard to copy.
 */
export async function storePastDay(pool: Pool, day: string, events: number): Promise<void> {
  await createPartition(pool, day);
  await pool.query(
    `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, client_occurred_at,
                         app_version, os_version, props)
     select md5($1 || number)::uuid, $1::timestamptz + number * interval '1.000001 seconds',
            md5('install' || number % 10)::uuid, md5($1 || number / 5)::uuid,
            (array['opened', 'saved', E'näme "\\t|'])[1 + number % 3],
            $1::timestamptz - number * interval '1 hour 0.000007 seconds',
            case when number % 4 = 0 then $1::timestamptz + number * interval '1 microsecond' end,
            '1.' || number % 2, case when number % 3 > 0 then 'macOS 14' end,
            case number % 5
              when 0 then null
              when 1 then '{}'::jsonb
              when 2 then '{"b": "2", "10": "x", "9": "y", "a": "1", "__proto__": "z"}'::jsonb
              else jsonb_build_object('plan', 'pro', 'text', E'é\\u2028"\\\\ ' || number)
            end
     from generate_series(1, $2::integer) as number`,
    [`${day}T00:00:00Z`, events],
  );
}

/** Rolls up all days. */
export async function finishDays(deps: TimeDependencies): Promise<void> {
  const { signal } = new AbortController();
  while ((await runRollups(deps, { signal, everything: true })) !== 'finished');
}

/** Returns the days that still have a partition. */
export async function listStoredDays(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ day: string }>(
    `select distinct to_char(received_at at time zone 'UTC', 'YYYY-MM-DD') as day from events order by 1`,
  );
  return rows.map(({ day }) => day);
}
