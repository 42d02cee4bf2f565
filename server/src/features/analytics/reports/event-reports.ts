import { Type, type Static } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { DayRange } from '../rules/days.ts';

/** The maximum number of rows of a report. */
export const MAX_REPORT_ROWS = 10_000;

const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);

const EventTotalRow = Type.Object({
  /** Null: the names that are not among the 500 most frequent of a day. */
  name: Nullable.Text,
  events: Type.Number(),
  /** The number of days on which it arrived. */
  days: Type.Number(),
  /** The largest number of installs on a day; null: unknown. */
  mostInstalls: MaybeNumber,
});

export type EventTotal = Readonly<Static<typeof EventTotalRow>>;

const totalStatement = defineStatement(
  'report_events_total',
  EventTotalRow,
  `select name, sum(events)::bigint as events, count(*) as days, max(installs) as most_installs
   from event_name_days where day between $1 and $2
   group by name order by 2 desc, 1 limit ${MAX_REPORT_ROWS}`,
);

/** Returns how often events arrived, the most frequent first. */
export async function listEventTotals(
  db: Queryable,
  { from, to }: DayRange,
): Promise<EventTotal[]> {
  return queryRows(db, totalStatement, [from, to]);
}

const EventDayRow = Type.Object({
  day: Type.String(),
  /** See {@link EventTotal}. */
  name: Nullable.Text,
  events: Type.Number(),
  /** Null: unknown. */
  installs: MaybeNumber,
});

export type EventDay = Readonly<Static<typeof EventDayRow>>;

const dailyStatement = defineStatement(
  'report_events_daily',
  EventDayRow,
  `select to_char(day, 'YYYY-MM-DD') as day, name, events, installs
   from event_name_days where day between $1 and $2 and ($3::text is null or name = $3)
   order by 1, rank limit ${MAX_REPORT_ROWS}`,
);

/** Returns how often events arrived each day, oldest first. @param name of one event; null: all */
export async function listEventsByDay(
  db: Queryable,
  { from, to }: DayRange,
  name: string | null,
): Promise<EventDay[]> {
  return queryRows(db, dailyStatement, [from, to, name]);
}

const versionDailyStatement = defineStatement(
  'report_events_daily_of_version',
  EventDayRow,
  `select to_char(day, 'YYYY-MM-DD') as day, name, events, installs
   from event_days where name = $3 and app_version = $4 and day between $1 and $2
   order by 1 limit ${MAX_REPORT_ROWS}`,
);

/** Returns how often a version of the application sent an event each day, oldest first. */
export async function listEventVersionDays(
  db: Queryable,
  { from, to }: DayRange,
  { name, version }: { readonly name: string; readonly version: string },
): Promise<EventDay[]> {
  return queryRows(db, versionDailyStatement, [from, to, name, version]);
}

const EventVersionRow = Type.Object({
  /** Empty: not sent; null: the versions that are not among the 100 most frequent of a day. */
  version: Nullable.Text,
  events: Type.Number(),
  days: Type.Number(),
  mostInstalls: MaybeNumber,
});

export type EventVersion = Readonly<Static<typeof EventVersionRow>>;

const versionStatement = defineStatement(
  'report_events_by_version',
  EventVersionRow,
  `select app_version as version, sum(events)::bigint as events, count(*) as days, max(installs) as most_installs
   from event_days where name = $3 and day between $1 and $2
   group by 1 order by 2 desc, 1 limit ${MAX_REPORT_ROWS}`,
);

/** Returns the versions of the application that sent an event, the most frequent first. */
export async function listEventVersions(
  db: Queryable,
  { from, to }: DayRange,
  name: string,
): Promise<EventVersion[]> {
  return queryRows(db, versionStatement, [from, to, name]);
}

const EventPropRow = Type.Object({
  key: Type.String(),
  /** Null: the values that are not among the 100 most frequent of a day. */
  value: Nullable.Text,
  events: Type.Number(),
});

export type EventPropValue = Readonly<Static<typeof EventPropRow>>;

const propStatement = defineStatement(
  'report_event_props',
  EventPropRow,
  `select key, value, sum(events)::bigint as events
   from event_prop_days where name = $3 and day between $1 and $2 and ($4::text is null or key = $4)
   group by key, value
   order by sum(sum(events)) over (partition by key) desc, key, 3 desc, 2
   limit ${MAX_REPORT_ROWS}`,
);

/**
 * Returns the values of an event's properties: the most frequent key first, and its most frequent value first. A value that
 * is rare on a day counts among the others on that day.
 * @param key one key; null: all
 */
export async function listEventProps(
  db: Queryable,
  { from, to }: DayRange,
  name: string,
  key: string | null,
): Promise<EventPropValue[]> {
  return queryRows(db, propStatement, [from, to, name, key]);
}

const DropDayRow = Type.Object({
  day: Type.String(),
  reason: Type.String(),
  events: Type.Number(),
});

export type DropDay = Readonly<Static<typeof DropDayRow>>;

const dropStatement = defineStatement(
  'report_drops',
  DropDayRow,
  `select to_char(day, 'YYYY-MM-DD') as day, reason, events
   from event_drops where day between $1 and $2
   order by 1, events desc, reason limit ${MAX_REPORT_ROWS}`,
);

/** Returns how many events were dropped each day, oldest first, by reason. */
export async function listDrops(db: Queryable, { from, to }: DayRange): Promise<DropDay[]> {
  return queryRows(db, dropStatement, [from, to]);
}
