import { Type } from 'typebox';

import { Nullable, defineStatement, queryRows, type Queryable } from '#server/db/statement.ts';

import type { Day } from '../rules/days.ts';
import type { DayRange } from '../rules/periods.ts';
import { MAX_REPORT_ROWS } from './limits.ts';

/** How much a version was used. */
export interface VersionUse {
  /** Empty: not told; null: all that are not among the hundred most frequent of a day. */
  readonly version: string | null;
  /** The sum of its machines of each day. */
  readonly machineDays: number;
  /** Of all machine days, from 0 to 1. */
  readonly share: number;
  /** On the last day on which it was used. */
  readonly lastDay: Day;
}

/** How many machines had a version on a day. */
export interface VersionDay {
  readonly day: Day;
  /** As above. */
  readonly version: string | null;
  readonly machines: number;
}

/** What can be asked of the versions that machines tell. */
export interface VersionReports {
  /** How much each version was used, the most used first. */
  readonly total: (db: Queryable, range: DayRange) => Promise<VersionUse[]>;
  /** The machines of each version day by day, the oldest first. */
  readonly daily: (db: Queryable, range: DayRange) => Promise<VersionDay[]>;
}

/** Makes the reports of one of the roll-ups by version. */
export function defineVersionReports(
  name: string,
  table: 'usage_version_days' | 'usage_system_days',
  column: 'app_version' | 'os_version',
): VersionReports {
  const totalStatement = defineStatement(
    `report_${name}_total`,
    Type.Object({
      version: Nullable.Text,
      machine_days: Type.Number(),
      share: Type.Number(),
      last_day: Type.String(),
    }),
    `select ${column} as version, sum(machines)::bigint as machine_days,
            (sum(machines) / sum(sum(machines)) over ())::float8 as share, to_char(max(day), 'YYYY-MM-DD') as last_day
     from ${table} where day between $1 and $2
     group by 1 order by 2 desc, 1 limit ${MAX_REPORT_ROWS}`,
  );
  const dailyStatement = defineStatement(
    `report_${name}_daily`,
    Type.Object({ day: Type.String(), version: Nullable.Text, machines: Type.Number() }),
    `select to_char(day, 'YYYY-MM-DD') as day, ${column} as version, machines
     from ${table} where day between $1 and $2
     order by 1, rank limit ${MAX_REPORT_ROWS}`,
  );
  return {
    async total(db, { from, to }) {
      const rows = await queryRows(db, totalStatement, [from, to]);
      return rows.map(({ machine_days: machineDays, last_day: lastDay, ...row }) => ({
        ...row,
        machineDays,
        lastDay,
      }));
    },
    daily: (db, { from, to }) => queryRows(db, dailyStatement, [from, to]),
  };
}
