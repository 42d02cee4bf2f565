/** `latchkey report machines`, `versions`, `systems`, `retention` and `trials`. */
import {
  listActiveMachines,
  listRetention,
  listTrialWeeks,
  type RetentionCell,
  systems,
  type VersionReports,
  versions,
} from '#server/features/analytics/reports/usage-reports.ts';
import { PERIODS } from '#server/features/analytics/rules/days.ts';

import { choice } from '../parameters.ts';
import { formatTable } from '../table.ts';
import { contextCommand } from '../with-context.ts';
import { formatShare } from './answer.ts';
import { MONTH_DAYS, printReport, QUARTER_DAYS, rangeOptions } from './print-report.ts';

export const machinesCommand = contextCommand({
  name: 'machines',
  description: 'Count active machines by day, week or month.',
  examples: {
    'report machines': 'Active machines of the last 30 days',
    'report machines --by month --from 2027-01-01': 'Active machines in each month',
  },
  parameters: [
    choice('--by <period>', 'period; weeks start on Monday', PERIODS).default('day'),
    ...rangeOptions(MONTH_DAYS),
  ],
  run: (context, { by, ...options }) =>
    printReport(context, options, MONTH_DAYS, async (db, range) => {
      const found = await listActiveMachines(db, range, by);
      return {
        columns: [by, 'machines'],
        rows: found.map((row) => [row.starts, row.machines]),
      };
    }),
});

export const versionsCommand = versionCommand(
  'versions',
  'version',
  'version of the application',
  versions,
);
export const systemsCommand = versionCommand('systems', 'system', 'operating system', systems);

function versionCommand(name: string, column: string, subject: string, reports: VersionReports) {
  return contextCommand({
    name,
    description: `Count machines by ${subject}.`,
    examples: {
      [`report ${name}`]: 'Machine days of the last 30 days',
      [`report ${name} --by day --csv > ${name}.csv`]: 'Machines of each day, for a spreadsheet',
    },
    parameters: [
      choice('--by <period>', 'all days together, or each day', ['total', 'day']).default('total'),
      ...rangeOptions(MONTH_DAYS),
    ],
    run: (context, { by, ...options }) =>
      printReport(context, options, MONTH_DAYS, async (db, range) => {
        if (by === 'day') {
          const days = await reports.daily(db, range);
          return {
            columns: ['day', column, 'machines'],
            rows: days.map((row) => [row.day, row.version, row.machines]),
          };
        }
        const uses = await reports.total(db, range);
        return {
          columns: [column, 'machine_days', 'share', 'last_day'],
          rows: uses.map((row) => [row.version, row.machineDays, row.share, row.lastDay]),
        };
      }),
  });
}

export const retentionCommand = contextCommand({
  name: 'retention',
  description: 'Count the machines that are still active in each week after their first.',
  examples: { 'report retention': 'Retention of the last twelve weeks' },
  parameters: rangeOptions(QUARTER_DAYS),
  run: (context, options) =>
    printReport(context, options, QUARTER_DAYS, async (db, range) => {
      const cells = await listRetention(db, range);
      return {
        columns: ['cohort', 'new_machines', 'weeks_later', 'machines'],
        rows: cells.map((row) => [row.cohort, row.newMachines, row.weeksLater, row.machines]),
        table: () => toTriangle(cells),
      };
    }),
});

/** One line for each cohort, one column for each week after it. */
function toTriangle(cells: readonly RetentionCell[]): string {
  const weeks = Math.max(...cells.map(({ weeksLater }) => weeksLater)) + 1;
  const cohorts = Map.groupBy(cells, ({ cohort }) => cohort);
  const rows = [...cohorts].map(([cohort, found]) => {
    const machinesOf = new Map(found.map((cell) => [cell.weeksLater, cell.machines]));
    const newMachines = found[0]?.newMachines ?? 0;
    const shares = Array.from({ length: weeks }, (_, later) => {
      const back = machinesOf.get(later);
      return back === undefined ? '' : formatShare(back / newMachines);
    });
    return [cohort, newMachines, ...shares];
  });
  const header = Array.from({ length: weeks }, (_, later) => `week ${later}`);
  return formatTable(['first week', 'machines', ...header], rows);
}

export const trialsCommand = contextCommand({
  name: 'trials',
  description: 'Count trials that became licenses within 14 days, on the same machine or install.',
  examples: { 'report trials': 'Trials of the last twelve weeks; open ones can still be paid' },
  parameters: rangeOptions(QUARTER_DAYS),
  run: (context, options) =>
    printReport(context, options, QUARTER_DAYS, async (db, range, now) => {
      const weeks = await listTrialWeeks(db, range, now);
      return {
        columns: ['week', 'trials', 'paid', 'share', 'open'],
        rows: weeks.map((row) => [row.week, row.trials, row.paid, row.share, row.open]),
      };
    }),
});
