import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import { type Day, endOfPeriod, type Period, startOf } from '../rules/days.ts';
import { measureLong, runLong } from './run-long.ts';

/** Versions of a day that have a row of their own. */
const MAX_VERSIONS = 100;

/** Steps from one day to the next by the index: one step per day, regardless of the number of machines. */
const listDaysStatement = defineStatement(
  'usage_day_list_days',
  Type.Object({ day: Type.String() }),
  `with recursive used as (
     select min(day) as day from usage_days
     union all
     select (select min(day) from usage_days where day > used.day) from used where used.day is not null
   )
   select to_char(day, 'YYYY-MM-DD') as day from used where day is not null order by day`,
);

/** Returns the days on which any machine was used, oldest first. */
export async function listUsageDays(db: Queryable): Promise<Day[]> {
  return (await queryRows(db, listDaysStatement)).map(({ day }) => day);
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

/** A license activated within this time after the start of a trial counts as its conversion. */
export const CONVERSION_DAYS = 14;

/**
 * Counts the trials that started in each week, and those that led to the activation of a license on the same machine or by
 * the same install.
 * @param from a Monday
 */
export async function replaceTrialWeeks(db: Queryable, from: Day): Promise<void> {
  const text = `
    with trial as materialized (
      select id, created_at, created_at + interval '${CONVERSION_DAYS} days' as ends_at,
             (created_at at time zone 'UTC')::date as day
      from licenses where trial and created_at >= $1
    ), trial_activation as materialized (
      select trial.id, trial.created_at, trial.ends_at, machine_id, install_id
      from trial join activations on license_id = trial.id
    ), license_activation as materialized (
      select machine_id, install_id, activated_at
      from activations join licenses on licenses.id = license_id
      where not trial and activated_at >= $1
    ), paid as (
      select started.id from trial_activation as started join license_activation using (machine_id)
      where activated_at >= started.created_at and activated_at < ends_at
      union
      select started.id from trial_activation as started join license_activation using (install_id)
      where activated_at >= started.created_at and activated_at < ends_at
    )
    insert into trial_weeks (week, trials, paid)
    select day - (extract(isodow from day)::integer - 1), count(*), count(paid.id)
    from trial left join paid using (id)
    group by 1`;
  await runLong(db, 'delete from trial_weeks where week >= $1', [from]);
  await runLong(db, text, [startOf(from)]);
}
