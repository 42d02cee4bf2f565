import type { UsageQuery, UsageReport, UsageRetention } from '@latchkey/contract';

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
export async function reportUsage(
  { clock, pool }: ReportDependencies,
  { by = 'day', ...days }: UsageQuery,
): Promise<UsageReport> {
  const range = readReportRange(days, clock.now());
  const current = await listActiveMachines(pool, range, by);
  const before = await listActiveMachines(pool, periodsBefore(range, by), by);
  const previous = before.slice(before.length - current.length);
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(pool),
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

export async function findUpToDate(pool: ReportDependencies['pool']): Promise<string | null> {
  return (await findLastRun(pool))?.finishedAt.toISOString() ?? null;
}

/**
 * Counts the machines of each first week that were active in the weeks after.
 * @throws invalidRequest (422)
 */
export async function reportRetention(
  { clock, pool }: ReportDependencies,
  query: { readonly from?: string; readonly to?: string },
): Promise<UsageRetention> {
  const range = readReportRange(query, clock.now());
  const cells = await listRetention(pool, range);
  const cohorts = Map.groupBy(cells, ({ cohort }) => cohort);
  return {
    ...viewRange(range),
    up_to_date_at: await findUpToDate(pool),
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
