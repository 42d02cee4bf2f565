import { listTrialWeeks } from '#server/features/analytics/reports/usage-reports.ts';

import { QUARTER_DAYS, type Question } from '../question.ts';

/** How many trials became licenses. */
export const trials: Question = {
  name: 'trials',
  description:
    'How many trials became licenses within 14 days, on the same machine or by the same install.',
  defaultDays: QUARTER_DAYS,
  options: [],
  examples: [['report trials', 'The last twelve weeks; those marked open may yet be paid']],
  async ask(db, range, _options, now) {
    const weeks = await listTrialWeeks(db, range, now);
    return {
      columns: [
        ['week', 'plain'],
        ['trials', 'plain'],
        ['paid', 'plain'],
        ['share', 'share'],
        ['open', 'plain'],
      ],
      rows: weeks.map((row) => [row.week, row.trials, row.paid, row.share, row.open]),
    };
  },
};
