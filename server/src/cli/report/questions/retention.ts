import {
  type RetentionCell,
  listRetention,
} from '#server/features/analytics/reports/usage-reports.ts';

import { formatTable } from '../../output.ts';
import { QUARTER_DAYS, type Question } from '../question.ts';
import { formatShare } from '../view.ts';

/** How many of the new machines come back. */
export const retention: Question = {
  name: 'retention',
  description: 'How many of the machines that were new in a week come back in the weeks after it.',
  defaultDays: QUARTER_DAYS,
  options: [],
  examples: [['report retention', 'The last twelve weeks']],
  async ask(db, range) {
    const cells = await listRetention(db, range);
    return {
      columns: [
        ['cohort', 'plain'],
        ['new_machines', 'plain'],
        ['weeks_later', 'plain'],
        ['machines', 'plain'],
      ],
      rows: cells.map((row) => [row.cohort, row.newMachines, row.weeksLater, row.machines]),
      table: () => toTriangle(cells),
    };
  },
};

/** A line for each cohort, a column for each week later. */
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
  return formatTable(['new in week of', 'machines', ...header], rows);
}
