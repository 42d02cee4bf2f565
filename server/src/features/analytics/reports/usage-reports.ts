import { Type, type Static } from 'typebox';

import { defineStatement, queryRows, type Queryable, Nullable } from '#server/db/statement.ts';

import {
  type Day,
  periodOf,
  type DayRange,
  type Period,
  weekOf,
  addDays,
  dayOf,
} from '../rules/days.ts';
import { MAX_REPORT_ROWS } from './event-reports.ts';

const ActiveMachinesRow = Type.Object({
  /** The first day of the period. */
  starts: Type.String(),
  /** Each counted once. */
  machines: Type.Number(),
});

export type ActiveMachines = Readonly<Static<typeof ActiveMachinesRow>>;

const activeStatement = defineStatement(
  'report_active_machines',
  ActiveMachinesRow,
  `select to_char(step, 'YYYY-MM-DD') as starts, coalesce(machines, 0) as machines
   from generate_series($2::timestamp, $3::timestamp, ('1 ' || $1)::interval) as step
   left join usage_totals on period = $1 and starts = step::date
   order by step`,
);

/** Returns the number of machines in use for each period that has a day in the range, oldest first. */
export async function listActiveMachines(
  db: Queryable,
  range: DayRange,
  period: Period,
): Promise<ActiveMachines[]> {
  return queryRows(db, activeStatement, [period, periodOf(period, range.from), range.to]);
}

const VersionUseRow = Type.Object({
  /** Empty: not sent; null: the versions that are not among the 100 most frequent of a day. */
  version: Nullable.Text,
  /** The sum of the machines of each day. */
  machineDays: Type.Number(),
  /** The share of all machine days, from 0 to 1. */
  share: Type.Number(),
  lastDay: Type.String(),
});

export type VersionUse = Readonly<Static<typeof VersionUseRow>>;

const VersionDayRow = Type.Object({
  day: Type.String(),
  /** See {@link VersionUse}. */
  version: Nullable.Text,
  machines: Type.Number(),
});

export type VersionDay = Readonly<Static<typeof VersionDayRow>>;

/** The reports on the last version that each machine sent on a day. */
export interface VersionReports {
  /** Returns the use of each version, the most used first. */
  readonly total: (db: Queryable, range: DayRange) => Promise<VersionUse[]>;
  /** Returns the machines of each version each day, oldest first. */
  readonly daily: (db: Queryable, range: DayRange) => Promise<VersionDay[]>;
}

function defineVersionReports(
  name: string,
  table: 'usage_version_days' | 'usage_system_days',
  column: 'app_version' | 'os_version',
): VersionReports {
  const totalStatement = defineStatement(
    `report_${name}_total`,
    VersionUseRow,
    `select ${column} as version, sum(machines)::bigint as machine_days,
            (sum(machines) / sum(sum(machines)) over ())::float8 as share, to_char(max(day), 'YYYY-MM-DD') as last_day
     from ${table} where day between $1 and $2
     group by 1 order by 2 desc, 1 limit ${MAX_REPORT_ROWS}`,
  );
  const dailyStatement = defineStatement(
    `report_${name}_daily`,
    VersionDayRow,
    `select to_char(day, 'YYYY-MM-DD') as day, ${column} as version, machines
     from ${table} where day between $1 and $2
     order by 1, rank limit ${MAX_REPORT_ROWS}`,
  );
  return {
    total: (db, { from, to }) => queryRows(db, totalStatement, [from, to]),
    daily: (db, { from, to }) => queryRows(db, dailyStatement, [from, to]),
  };
}

/** Versions of the application. */
export const versions = defineVersionReports('versions', 'usage_version_days', 'app_version');

/** Operating systems. */
export const systems = defineVersionReports('systems', 'usage_system_days', 'os_version');

const RetentionRow = Type.Object({
  /** The Monday of the machines' first week. */
  cohort: Type.String(),
  /** The machines of the cohort. */
  newMachines: Type.Number(),
  /** 0: the first week itself. */
  weeksLater: Type.Integer(),
  machines: Type.Number(),
});

/** The machines of a cohort that were used in a week. */
export type RetentionCell = Readonly<Static<typeof RetentionRow>>;

const retentionStatement = defineStatement(
  'report_retention',
  RetentionRow,
  `select to_char(cohort, 'YYYY-MM-DD') as cohort, first.machines as new_machines, (later.week - cohort) / 7 as weeks_later,
          later.machines
   from usage_retention as later
   join (select cohort, machines from usage_retention where week = cohort) as first using (cohort)
   where cohort between $1 and $2 and later.week <= $2
   order by 1, 3 limit ${MAX_REPORT_ROWS}`,
);

/** Returns the retention of each week in the range, for each later week in the range with any use. */
export async function listRetention(
  db: Queryable,
  { from, to }: DayRange,
): Promise<RetentionCell[]> {
  return queryRows(db, retentionStatement, [weekOf(from), to]);
}

/** The trials that started in a week. */
export interface TrialWeek {
  /** The Monday. */
  readonly week: Day;
  readonly trials: number;
  /** The trials after which a license was activated within 14 days, on the same machine or by the same install. */
  readonly paid: number;
  /** The share of all trials, from 0 to 1. */
  readonly share: number;
  /** Whether more trials may still be paid. */
  readonly open: boolean;
}

/** The week, and the 14 days after its end. */
const OPEN_DAYS = 21;

const trialStatement = defineStatement(
  'report_trial_conversion',
  Type.Object({ week: Type.String(), trials: Type.Number(), paid: Type.Number() }),
  `select to_char(date_trunc('week', day::timestamp), 'YYYY-MM-DD') as week, sum(trials)::bigint as trials,
          coalesce(sum(trials) filter (where bought_product_id <> ''), 0)::bigint as paid
   from trial_days
   where day >= $1 and date_trunc('week', day::timestamp) <= $2::date and ($3::text is null or product_id = $3)
   group by 1 order by 1 limit ${MAX_REPORT_ROWS}`,
);

/**
 * Returns the conversion of trials by the week of their start, oldest first.
 * @param productId of one product; null: all
 */
export async function listTrialWeeks(
  db: Queryable,
  { from, to }: DayRange,
  now: Date,
  productId: string | null = null,
): Promise<TrialWeek[]> {
  const rows = await queryRows(db, trialStatement, [weekOf(from), to, productId]);
  return rows.map((row) => ({
    ...row,
    share: row.paid / row.trials,
    open: addDays(row.week, OPEN_DAYS) > dayOf(now),
  }));
}
