import { Type } from 'typebox';

import { defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { endOfPeriod, type Period } from '../rules/periods.ts';
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
