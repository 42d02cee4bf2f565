import { Type } from 'typebox';

import { defineStatement, Nullable, queryRow, type Queryable } from '#server/db/statement.ts';

import { type Day, endOfPeriod, type Period } from '../rules/days.ts';
import { measureLong, runLong } from './run-long.ts';

/** Versions of a day that have a row of their own. */
const MAX_VERSIONS = 100;

const nextDayStatement = defineStatement(
  'usage_day_find_next',
  Type.Object({ day: Nullable.Text }),
  `select to_char(min(day), 'YYYY-MM-DD') as day from usage_days where day > $1 and day < $2`,
);

/** Returns the first day between two others (or infinities) on which any machine was used, or null. */
export async function findNextUsageDay(db: Queryable, after: Day, until: Day): Promise<Day | null> {
  return (await queryRow(db, nextDayStatement, [after, until]))?.day ?? null;
}

/** Counts the heartbeats of a day: each may have changed a row. */
export async function sumBeats(db: Queryable, day: Day): Promise<number> {
  return measureLong(db, 'select sum(beats) as number from usage_days where day = $1', [day]);
}

/** Counts the machines of a day by version of the application. */
export async function replaceUsageVersions(db: Queryable, day: Day): Promise<void> {
  await replaceVersions(db, day, 'usage_version_days', 'app_version');
}

/** Counts the machines of a day by version of the operating system. */
export async function replaceUsageSystems(db: Queryable, day: Day): Promise<void> {
  await replaceVersions(db, day, 'usage_system_days', 'os_version');
}

async function replaceVersions(
  db: Queryable,
  day: Day,
  table: 'usage_version_days' | 'usage_system_days',
  column: 'app_version' | 'os_version',
): Promise<void> {
  const text = `
    with counted as (
      select coalesce(${column}, '') as version, count(*) as machines from usage_days where day = $1 group by 1
    ), ranked as (
      select *, row_number() over (order by machines desc, version collate "C") as rank from counted
    )
    insert into ${table} (day, rank, ${column}, machines)
    select $1::date, least(rank, ${MAX_VERSIONS + 1}), case when rank <= ${MAX_VERSIONS} then version end, sum(machines)
    from ranked group by 2, 3`;
  await runLong(db, `delete from ${table} where day = $1`, [day]);
  await runLong(db, text, [day]);
}

/** Stores the day as the first one of each machine that has no earlier one. */
export async function upsertFirstDays(db: Queryable, day: Day): Promise<void> {
  const text = `
    insert into usage_first_days as known (machine_key, first_day)
    select machine_key, day from usage_days where day = $1 order by machine_key
    on conflict (machine_key) do update set first_day = excluded.first_day
    where known.first_day > excluded.first_day`;
  await runLong(db, text, [day]);
}

/** Counts the machines that were used in a period, each once. */
export async function upsertUsageTotal(db: Queryable, period: Period, starts: Day): Promise<void> {
  const text = `
    insert into usage_totals (period, starts, machines)
    select $1, $2, count(*)
    from (select distinct machine_key from usage_days where day >= $2::date and day < $3::date) as used
    on conflict (period, starts) do update set machines = excluded.machines`;
  await runLong(db, text, [period, starts, endOfPeriod(period, starts)]);
}

/** Counts the machines that were used in a week by their first week. Requires `upsertFirstDays` for all days of the week. */
export async function replaceRetention(db: Queryable, week: Day): Promise<void> {
  const text = `
    insert into usage_retention (cohort, week, machines)
    select first_day - (extract(isodow from first_day)::integer - 1), $1::date, count(*)
    from (select distinct machine_key from usage_days where day >= $1::date and day < $2::date) as used
    join usage_first_days using (machine_key)
    group by 1`;
  await runLong(db, 'delete from usage_retention where week = $1', [week]);
  await runLong(db, text, [week, endOfPeriod('week', week)]);
}
