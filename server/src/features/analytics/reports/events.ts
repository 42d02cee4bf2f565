import { Type } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { DayRange } from '../rules/periods.ts';
import { MAX_REPORT_ROWS } from './limits.ts';

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
