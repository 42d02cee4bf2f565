import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import { type Day, endOfPeriod, type Period, startOf } from '../rules/days.ts';
import { measureLong, runLong } from './run-long.ts';

/** Versions of a day that have rows of their own. */
const MAX_VERSIONS = 100;

/** From one day to the next by the index: as many steps as there are days, however many machines. */
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

/** The days on which a machine was used, the oldest first. */
export async function listUsageDays(db: Queryable): Promise<Day[]> {
  return (await queryRows(db, listDaysStatement)).map(({ day }) => day);
}

/** How many heartbeats a day has: each of them may have changed something. */
export async function sumBeats(db: Queryable, day: Day): Promise<number> {
  return measureLong(db, 'select sum(beats) as number from usage_days where day = $1', [day]);
}

/** Takes back what was rolled up of a day by version of the application. */
export async function deleteUsageVersions(db: Queryable, day: Day): Promise<void> {
  await runLong(db, 'delete from usage_version_days where day = $1', [day]);
}

/** Rolls a day up by version of the application. */
export async function insertUsageVersions(db: Queryable, day: Day): Promise<void> {
  await runLong(db, insertVersions('usage_version_days', 'app_version'), [day]);
}

/** Takes back what was rolled up of a day by version of the system. */
export async function deleteUsageSystems(db: Queryable, day: Day): Promise<void> {
  await runLong(db, 'delete from usage_system_days where day = $1', [day]);
}

/** Rolls a day up by version of the operating system. */
export async function insertUsageSystems(db: Queryable, day: Day): Promise<void> {
  await runLong(db, insertVersions('usage_system_days', 'os_version'), [day]);
}

function insertVersions(table: string, column: 'app_version' | 'os_version'): string {
  return `
    with counted as (
      select coalesce(${column}, '') as version, count(*) as machines from usage_days where day = $1 group by 1
    ), ranked as (
      select *, row_number() over (order by machines desc, version collate "C") as rank from counted
    )
    insert into ${table} (day, rank, ${column}, machines)
    select $1::date, least(rank, ${MAX_VERSIONS + 1}), case when rank <= ${MAX_VERSIONS} then version end, sum(machines)
    from ranked group by 2, 3`;
}

/** Writes down which machines a day was the first of. */
export async function upsertFirstDays(db: Queryable, day: Day): Promise<void> {
  const text = `
    insert into usage_first_days as known (machine_key, first_day)
    select machine_key, day from usage_days where day = $1 order by machine_key
    on conflict (machine_key) do update set first_day = excluded.first_day
    where known.first_day > excluded.first_day`;
  await runLong(db, text, [day]);
}

/** Counts the machines in use in a period, each once. */
export async function upsertUsageTotal(db: Queryable, period: Period, starts: Day): Promise<void> {
  const text = `
    insert into usage_totals (period, starts, machines)
    select $1, $2, count(*)
    from (select distinct machine_key from usage_days where day >= $2::date and day < $3::date) as used
    on conflict (period, starts) do update set machines = excluded.machines`;
  await runLong(db, text, [period, starts, endOfPeriod(period, starts)]);
}

/** Takes back what was rolled up of a week by the week in which machines were new. */
export async function deleteRetention(db: Queryable, week: Day): Promise<void> {
  await runLong(db, 'delete from usage_retention where week = $1', [week]);
}

/** Counts the machines in use in a week by the week in which they were new; after the first days of all its days. */
export async function insertRetention(db: Queryable, week: Day): Promise<void> {
  const text = `
    insert into usage_retention (cohort, week, machines)
    select first_day - (extract(isodow from first_day)::integer - 1), $1::date, count(*)
    from (select distinct machine_key from usage_days where day >= $1::date and day < $2::date) as used
    join usage_first_days using (machine_key)
    group by 1`;
  await runLong(db, text, [week, endOfPeriod('week', week)]);
}

/** A license that is activated within so many days of a trial's start was bought because of it. */
export const CONVERSION_DAYS = 14;

/** Takes back what was rolled up of trials from a week on. */
export async function deleteTrialWeeks(db: Queryable, from: Day): Promise<void> {
  await runLong(db, 'delete from trial_weeks where week >= $1', [from]);
}

/**
 * Counts the trials that began in each week, and those of them after whose start a license that is no trial was activated
 * on the same machine, or by the same install.
 * @param from a Monday
 */
export async function insertTrialWeeks(db: Queryable, from: Day): Promise<void> {
  const text = `
    with trial as materialized (
      select id, created_at, created_at + interval '${CONVERSION_DAYS} days' as ends_at,
             (created_at at time zone 'UTC')::date as day
      from licenses where trial and created_at >= $1
    ), place as materialized (
      select trial.id, trial.created_at, trial.ends_at, machine_id, install_id
      from trial join activations on license_id = trial.id
    ), sold as materialized (
      select machine_id, install_id, activated_at
      from activations join licenses on licenses.id = license_id
      where not trial and activated_at >= $1
    ), paid as (
      select place.id from place join sold using (machine_id)
      where activated_at >= place.created_at and activated_at < ends_at
      union
      select place.id from place join sold using (install_id)
      where activated_at >= place.created_at and activated_at < ends_at
    )
    insert into trial_weeks (week, trials, paid)
    select day - (extract(isodow from day)::integer - 1), count(*), count(paid.id)
    from trial left join paid using (id)
    group by 1`;
  await runLong(db, text, [startOf(from)]);
}
