import { Type } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day, DayRange } from '../rules/days.ts';

/** So many rows a report has at most; what is asked for in more detail is asked for a shorter time. */
export const MAX_REPORT_ROWS = 10_000;

const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);

/** How often an event arrived. */
export interface EventTotal {
  /** Null: all names that are not among the 500 most frequent of a day. */
  readonly name: string | null;
  readonly events: number;
  /** On how many days. */
  readonly days: number;
  /** The installs that sent it on the day on which most did; null: not known. */
  readonly mostInstalls: number | null;
}

const totalStatement = defineStatement(
  'report_events_total',
  Type.Object({
    name: Nullable.Text,
    events: Type.Number(),
    days: Type.Number(),
    most_installs: MaybeNumber,
  }),
  `select name, sum(events)::bigint as events, count(*) as days, max(installs) as most_installs
   from event_name_days where day between $1 and $2
   group by name order by 2 desc, 1 limit ${MAX_REPORT_ROWS}`,
);

/** Which events arrive, and how often? The most frequent first; by the day of arrival, from roll-ups. */
export async function listEventTotals(
  db: Queryable,
  { from, to }: DayRange,
): Promise<EventTotal[]> {
  const rows = await queryRows(db, totalStatement, [from, to]);
  return rows.map(({ most_installs: mostInstalls, ...row }) => ({ ...row, mostInstalls }));
}

/** How often an event arrived on a day. */
export interface EventDay {
  readonly day: Day;
  /** As above. */
  readonly name: string | null;
  readonly events: number;
  /** How many installs sent it; null: not known. */
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

/** How often do events arrive day by day? The oldest day first. @param name of one event; null: of all */
export async function listEventsByDay(
  db: Queryable,
  { from, to }: DayRange,
  name: string | null,
): Promise<EventDay[]> {
  return queryRows(db, dailyStatement, [from, to, name]);
}

/** How often an event arrived from a version of the application. */
export interface EventVersion {
  /** Empty: not told; null: all that are not among the hundred most frequent of a day. */
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
    most_installs: MaybeNumber,
  }),
  `select app_version as version, sum(events)::bigint as events, count(*) as days, max(installs) as most_installs
   from event_days where name = $3 and day between $1 and $2
   group by 1 order by 2 desc, 1 limit ${MAX_REPORT_ROWS}`,
);

/** Which versions of the application does an event come from? The most frequent first. */
export async function listEventVersions(
  db: Queryable,
  { from, to }: DayRange,
  name: string,
): Promise<EventVersion[]> {
  const rows = await queryRows(db, versionStatement, [from, to, name]);
  return rows.map(({ most_installs: mostInstalls, ...row }) => ({ ...row, mostInstalls }));
}

/** How often a prop of an event had a value. */
export interface EventPropValue {
  readonly key: string;
  /** Null: all that were not among the hundred most frequent of their day. */
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
 * What are the values of an event's props? The most frequent key first, and of each the most frequent value; from roll-ups.
 * A value that is seldom on some days is counted among the others on those. @param key one of them; null: all
 */
export async function listEventProps(
  db: Queryable,
  { from, to }: DayRange,
  name: string,
  key: string | null,
): Promise<EventPropValue[]> {
  return queryRows(db, propStatement, [from, to, name, key]);
}

/** How many events of a day were not stored, for one reason. */
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

/** How many events were not stored, and why? Day by day, the oldest first. */
export async function listDrops(db: Queryable, { from, to }: DayRange): Promise<DropDay[]> {
  return queryRows(db, dropStatement, [from, to]);
}
