import type { Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import { boundsOf, measureLong, runLong } from './run-long.ts';

/** Names of a day that have a row of their own. */
const MAX_NAMES = 500;

/** Versions of a name and day that have a row of their own. */
const MAX_VERSIONS = 100;

/** Property keys of a name and day that are counted: the most frequent ones. */
const MAX_KEYS = 50;

/** Values of a key and day that have a row of their own. */
const MAX_VALUES = 100;

/** Counts the events that arrived on a day. */
export async function countDayEvents(db: Queryable, day: Day): Promise<number> {
  const text = 'select count(*) as number from events where received_at >= $1 and received_at < $2';
  return measureLong(db, text, boundsOf(day));
}

/** Counts the events of a day by name. */
export async function replaceEventNames(db: Queryable, day: Day): Promise<void> {
  const text = `
    with by_install as (
      select name, install_id, count(*) as events from events
      where received_at >= $1 and received_at < $2
      group by name, install_id
    ), counted as (
      select name, sum(events) as events, count(*) as installs from by_install group by name
    ), ranked as (
      select *, row_number() over (order by events desc, name collate "C") as rank from counted
    )
    insert into event_name_days (day, rank, name, events, installs)
    select $3::date, least(rank, ${MAX_NAMES + 1}), case when rank <= ${MAX_NAMES} then name end,
           sum(events), case when min(rank) <= ${MAX_NAMES} then sum(installs) end
    from ranked group by 2, 3`;
  await runLong(db, 'delete from event_name_days where day = $1', [day]);
  await runLong(db, text, [...boundsOf(day), day]);
}

/** Counts the events of a day by name and version of the application, for the names that `replaceEventNames` listed. */
export async function replaceEventVersions(db: Queryable, day: Day): Promise<void> {
  const text = `
    with by_install as (
      select name, app_version, install_id, count(*) as events from events
      where received_at >= $1 and received_at < $2
        and name in (select name from event_name_days where day = $3::date)
      group by name, app_version, install_id
    ), counted as (
      select name, app_version, sum(events) as events, count(*) as installs from by_install group by name, app_version
    ), ranked as (
      select *, row_number() over (partition by name order by events desc, app_version collate "C") as rank from counted
    )
    insert into event_days (name, day, rank, app_version, events, installs)
    select name, $3::date, least(rank, ${MAX_VERSIONS + 1}), case when rank <= ${MAX_VERSIONS} then app_version end,
           sum(events), case when min(rank) <= ${MAX_VERSIONS} then sum(installs) end
    from ranked group by 1, 3, 4`;
  await runLong(db, 'delete from event_days where day = $1', [day]);
  await runLong(db, text, [...boundsOf(day), day]);
}

/** Counts the property values of a day, for the names that `replaceEventNames` listed. */
export async function replaceEventProps(db: Queryable, day: Day): Promise<void> {
  const text = `
    with counted as (
      select name, key, value, count(*) as events
      from events cross join lateral jsonb_each_text(props) as prop (key, value)
      where received_at >= $1 and received_at < $2
        and name in (select name from event_name_days where day = $3::date)
      group by name, key, value
    ), ranked as (
      select *, row_number() over (partition by name, key order by events desc, value collate "C") as rank,
             sum(events) over (partition by name, key) as key_events
      from counted
    ), key_ranked as (
      select *, dense_rank() over (partition by name order by key_events desc, key collate "C") as key_rank from ranked
    )
    insert into event_prop_days (name, day, key, rank, value, events)
    select name, $3::date, key, least(rank, ${MAX_VALUES + 1}), case when rank <= ${MAX_VALUES} then value end, sum(events)
    from key_ranked where key_rank <= ${MAX_KEYS}
    group by 1, 3, 4, 5`;
  await runLong(db, 'delete from event_prop_days where day = $1', [day]);
  await runLong(db, text, [...boundsOf(day), day]);
}
