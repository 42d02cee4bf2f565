import type { UsageQuery, UsageReport, UsageRetention } from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';

import { findLastRun } from '../queries/rollup-marks.ts';
import { addDays, listPeriods, type Period } from '../rules/days.ts';
import type { ReportDependencies } from './dependencies.ts';
import { readReportRange, viewRange, type ComparedRange } from './report-range.ts';
import { listActiveMachines, listRetention } from './usage-reports.ts';

/** In days: a period is at most this long. */
const LONGEST = { day: 1, week: 7, month: 31 } as const;

/**
 * Counts the active machines of each period, beside the same number of periods before.
 * @throws invalidRequest (422)
 */
export function reportUsage(
  { clock, reports }: ReportDependencies,
  { by = 'day', ...days }: UsageQuery,
): Promise<UsageReport> {
  const range = readReportRange(days, clock.now());
  return reports.read((db) => readUsage(db, range, by));
}

async function readUsage(db: Queryable, range: ComparedRange, by: Period): Promise<UsageReport> {
  const current = await listActiveMachines(db, range, by);
  const before = await listActiveMachines(db, periodsBefore(range, by), by);
  const previous = before.slice(before.length - current.length);
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(db),
    by,
    periods: current.map(({ starts, machines }, index) => ({
      starts,
      machines,
      previous_starts: previous[index]?.starts ?? starts,
      previous_machines: previous[index]?.machines ?? 0,
    })),
  };
}

/** Returns days that contain at least as many whole periods before the range as it has. */
function periodsBefore(range: ComparedRange, by: Period): { from: string; to: string } {
  const periods = listPeriods(by, range);
  const to = addDays(periods[0] ?? range.from, -1);
  return { from: addDays(to, 1 - periods.length * LONGEST[by]), to };
}

export async function findUpToDate(db: Queryable): Promise<string | null> {
  return (await findLastRun(db))?.finishedAt.toISOString() ?? null;
}

/**
 * Counts the machines of each first week that were active in the weeks after.
 * @throws invalidRequest (422)
 */
export function reportRetention(
  { clock, reports }: ReportDependencies,
  query: { readonly from?: string; readonly to?: string },
): Promise<UsageRetention> {
  const range = readReportRange(query, clock.now());
  return reports.read((db) => readRetention(db, range));
}

async function readRetention(db: Queryable, range: ComparedRange): Promise<UsageRetention> {
  const cells = await listRetention(db, range);
  const cohorts = Map.groupBy(cells, ({ cohort }) => cohort);
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(db),
    cohorts: [...cohorts].map(([week, found]) => {
      const machinesOf = new Map(found.map((cell) => [cell.weeksLater, cell.machines]));
      const weeks = listPeriods('week', { from: week, to: range.to }).length;
      return {
        week,
        machines: found[0]?.newMachines ?? 0,
        active: Array.from({ length: weeks }, (_, later) => machinesOf.get(later) ?? 0),
      };
    }),
  };
}
