import { Option } from 'commander';

import { listActiveMachines } from '#server/features/analytics/reports/usage-reports.ts';
import { PERIODS, type Period } from '#server/features/analytics/rules/days.ts';

import { MONTH_DAYS, type Question } from '../question.ts';

/** How many machines are in use. */
export const machines: Question = {
  name: 'machines',
  description: 'How many machines are in use, each counted once in a day, a week or a month.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--by <period>', 'what is counted in; weeks begin on Monday')
      .choices(PERIODS)
      .default('day'),
  ],
  examples: [
    ['report machines', 'The last 30 days'],
    ['report machines --by month --from 2027-01-01', 'Machines active in each month of the year'],
  ],
  async ask(db, range, { by }) {
    const period: Period = PERIODS.find((each) => each === by) ?? 'day';
    const rows = await listActiveMachines(db, range, period);
    return {
      columns: [
        [period, 'plain'],
        ['machines', 'plain'],
      ],
      rows: rows.map((row) => [row.starts, row.machines]),
    };
  },
};
