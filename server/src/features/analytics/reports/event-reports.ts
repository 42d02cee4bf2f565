import { Type } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day, DayRange } from '../rules/days.ts';

/** The maximum number of rows of a report. */
export const MAX_REPORT_ROWS = 10_000;

const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);

export interface EventTotal {
  /** Null: the names that are not among the 500 most frequent of a day. */
  readonly name: string | null;
  readonly events: number;
  /** The number of days on which it arrived. */
  readonly days: number;
  /** The largest number of installs on a day; null: unknown. */
  readonly mostInstalls: number | null;
}

const totalStatement = defineStatement(
  'report_events_total',
  Type.Object({
    name: Nullable.Text,
    events: Type.Number(),
    days: Type.Number(),
    mostInstalls: MaybeNumber,
  }),
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

export interface EventDay {
  readonly day: Day;
  /** See {@link EventTotal}. */
  readonly name: string | null;
  readonly events: number;
  /** Null: unknown. */
  readonly installs: number | null;
}

const dailyStatement = defineStatement(
  'report_events_daily',
  Type.Object({
    day: Type.String(),
    name: Nullable.Text,
    events: Type.Number(),
    installs: MaybeNumber,
  }),
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

export interface EventVersion {
  /** Empty: not sent; null: the versions that are not among the 100 most frequent of a day. */
  readonly version: string | null;
  readonly events: number;
  readonly days: number;
  readonly mostInstalls: number | null;
}

const versionStatement = defineStatement(
  'report_events_by_version',
  Type.Object({
    version: Nullable.Text,
    events: Type.Number(),
    days: Type.Number(),
    mostInstalls: MaybeNumber,
  }),
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

export interface EventPropValue {
  readonly key: string;
  /** Null: the values that are not among the 100 most frequent of a day. */
  readonly value: string | null;
  readonly events: number;
}

const propStatement = defineStatement(
  'report_event_props',
  Type.Object({ key: Type.String(), value: Nullable.Text, events: Type.Number() }),
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

export interface DropDay {
  readonly day: Day;
  readonly reason: string;
  readonly events: number;
}

const dropStatement = defineStatement(
  'report_drops',
  Type.Object({ day: Type.String(), reason: Type.String(), events: Type.Number() }),
  `select to_char(day, 'YYYY-MM-DD') as day, reason, events
   from event_drops where day between $1 and $2
   order by 1, events desc, reason limit ${MAX_REPORT_ROWS}`,
);

/** Returns how many events were dropped each day, oldest first, by reason. */
export async function listDrops(db: Queryable, { from, to }: DayRange): Promise<DropDay[]> {
  return queryRows(db, dropStatement, [from, to]);
}
