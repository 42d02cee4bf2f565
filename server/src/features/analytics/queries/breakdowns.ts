import { Type, type Static } from 'typebox';

import {
  defineStatement,
  Nullable,
  queryRows,
  type Parameter,
  type Queryable,
  type Statement,
} from '#server/db/statement.ts';

import type { DayRange } from '../rules/days.ts';

const MaybeNumber = Type.Union([Type.Number(), Type.Null()]);

const BreakdownRow = Type.Object({
  /** Empty: not sent; null: all others. */
  value: Nullable.Text,
  count: Type.Number(),
  previousCount: Type.Number(),
  /** The largest number of installs on a day; null: unknown. */
  installs: MaybeNumber,
  lastDay: Nullable.Text,
  /** The counts of the range by bucket, from 0. */
  trend: Type.Record(Type.String(), Type.Number()),
});

/** A value of a roll-up, counted in a range and in the days before. */
export type BreakdownRecord = Readonly<Static<typeof BreakdownRow>>;

/** Values with a row of their own; the others are summed in the row whose value is null. */
const MAX_BREAKDOWN_VALUES = 500;

interface BreakdownSource {
  readonly table: string;
  /** The expression to group by. */
  readonly value: string;
  /** The column that is summed. */
  readonly measure: 'machines' | 'events';
  /** The column of installs; default: the roll-up has none. */
  readonly installs?: string;
  /** A condition on the parameters from `$5`. */
  readonly where?: string;
}

/** Reads the rows of the days by the index that begins with the day, or with the name and the day. */
function defineBreakdown(name: string, source: BreakdownSource): Statement<typeof BreakdownRow> {
  const { table, value, measure, installs = 'null::bigint', where = 'true' } = source;
  return defineStatement(
    name,
    BreakdownRow,
    `with bucketed as (
       select ${value} as value, case when day < $1::date then -1 else (day - $1::date) / $4::integer end as bucket,
              sum(${measure}) as number, max(${installs}) filter (where day >= $1::date) as installs, max(day) as last_day
       from ${table} where day between $3::date and $2::date and ${where}
       group by 1, 2
     ), ranked as (
       select value, row_number() over (
         order by value is null, sum(number) filter (where bucket >= 0) desc nulls last, sum(number) desc, value collate "C"
       ) as rank
       from bucketed group by value
     ), shown as (
       select case when rank <= ${MAX_BREAKDOWN_VALUES} then value end as value, bucket, sum(number) as number,
              case when rank <= ${MAX_BREAKDOWN_VALUES} then max(installs) end as installs, max(last_day) as last_day
       from bucketed join ranked using (value)
       where value is not null
       group by 1, 2, rank
       union all
       select null, bucket, number, null, last_day from bucketed where value is null
     )
     select value, coalesce(sum(number) filter (where bucket >= 0), 0)::bigint as count,
            coalesce(sum(number) filter (where bucket < 0), 0)::bigint as previous_count,
            max(installs) as installs, to_char(max(last_day), 'YYYY-MM-DD') as last_day,
            coalesce(jsonb_object_agg(bucket, number) filter (where bucket >= 0), '{}') as trend
     from (
       select value, bucket, sum(number) as number, max(installs) as installs, max(last_day) as last_day
       from shown group by value, bucket
     ) as summed
     group by value
     order by value is null, count desc, previous_count desc, value collate "C"`,
  );
}

/** The platforms of systems that begin with the name of a distribution or of a release; others keep their own name. */
const PLATFORM = `case
  when os_version is null then null
  when os_version ~* '^(macos|mac os|os x|darwin)' then 'macOS'
  when os_version ~* '^win' then 'Windows'
  when os_version ~* '^(linux|ubuntu|debian|fedora|arch|opensuse|suse|rhel|red hat|centos|alpine|manjaro|pop!_os|nixos|gentoo)' then 'Linux'
  else trim(substring(os_version from '^[^0-9(]*'))
end`;

const statements = {
  version: defineBreakdown('usage_break_down_versions', {
    table: 'usage_version_days',
    value: 'app_version',
    measure: 'machines',
  }),
  system: defineBreakdown('usage_break_down_systems', {
    table: 'usage_system_days',
    value: 'os_version',
    measure: 'machines',
  }),
  platform: defineBreakdown('usage_break_down_platforms', {
    table: 'usage_system_days',
    value: PLATFORM,
    measure: 'machines',
  }),
  event: defineBreakdown('event_break_down_names', {
    table: 'event_name_days',
    value: 'name',
    measure: 'events',
    installs: 'installs',
    where: `($5::text is null or position(lower($5) in lower(name)) > 0)`,
  }),
  eventOfVersion: defineBreakdown('event_break_down_names_of_version', {
    table: 'event_days',
    value: 'name',
    measure: 'events',
    installs: 'installs',
    where: `($5::text is null or position(lower($5) in lower(name)) > 0) and app_version = $6`,
  }),
  versionOfEvent: defineBreakdown('event_break_down_versions', {
    table: 'event_days',
    value: 'app_version',
    measure: 'events',
    installs: 'installs',
    where: 'name = $5',
  }),
  property: defineBreakdown('event_break_down_properties', {
    table: 'event_prop_days',
    value: 'key',
    measure: 'events',
    where: 'name = $5',
  }),
  value: defineBreakdown('event_break_down_values', {
    table: 'event_prop_days',
    value: 'value',
    measure: 'events',
    where: 'name = $5 and key = $6',
  }),
};

/** The roll-ups that can be broken down. */
export type BreakdownName = keyof typeof statements;

/** The days of a breakdown. */
export interface BreakdownDays extends DayRange {
  readonly previousFrom: string;
  /** How many days each number of a trend has. */
  readonly trendDays: number;
}

/**
 * Counts the values of a roll-up, the largest first.
 * @param parameters those of the statement from `$5`
 */
export async function listBreakdown(
  db: Queryable,
  name: BreakdownName,
  { from, to, previousFrom, trendDays }: BreakdownDays,
  parameters: readonly Parameter[] = [],
): Promise<BreakdownRecord[]> {
  return queryRows(db, statements[name], [from, to, previousFrom, trendDays, ...parameters]);
}
