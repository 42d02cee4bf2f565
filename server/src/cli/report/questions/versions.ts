import { Option } from 'commander';

import {
  type VersionReports,
  systems as systemReports,
  versions as versionReports,
} from '#server/features/analytics/reports/usage-reports.ts';

import { MONTH_DAYS, type Question } from '../question.ts';

/** Which versions of the application machines have. */
export const versions = versionQuestion(
  'versions',
  'version',
  'versions of the application',
  versionReports,
);

/** Which operating systems machines have. */
export const systems = versionQuestion('systems', 'system', 'operating systems', systemReports);

function versionQuestion(
  name: 'versions' | 'systems',
  column: 'version' | 'system',
  subject: string,
  reports: VersionReports,
): Question {
  return {
    name,
    description: `Which ${subject} machines have, by what they told on each day.`,
    defaultDays: MONTH_DAYS,
    options: [
      new Option('--by <what>', 'how it is broken down').choices(['total', 'day']).default('total'),
    ],
    examples: [
      [`report ${name}`, 'By the machines of each day, added up over 30 days'],
      [`report ${name} --by day --csv > ${name}.csv`, 'Day by day, for a spreadsheet'],
    ],
    async ask(db, range, { by }) {
      if (by === 'day') {
        const days = await reports.daily(db, range);
        return {
          columns: [
            ['day', 'plain'],
            [column, 'version'],
            ['machines', 'plain'],
          ],
          rows: days.map((row) => [row.day, row.version, row.machines]),
        };
      }
      const uses = await reports.total(db, range);
      return {
        columns: [
          [column, 'version'],
          ['machine_days', 'plain'],
          ['share', 'share'],
          ['last_day', 'plain'],
        ],
        rows: uses.map((row) => [row.version, row.machineDays, row.share, row.lastDay]),
      };
    },
  };
}
