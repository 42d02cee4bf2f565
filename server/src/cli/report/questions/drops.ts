import { listDrops } from '#server/features/analytics/reports/event-reports.ts';

import { MONTH_DAYS, type Question } from '../question.ts';

/** Why events were not stored. */
export const drops: Question = {
  name: 'drops',
  description: 'How many events were not stored, and why.',
  defaultDays: MONTH_DAYS,
  options: [],
  examples: [['report drops', 'When a client says that its events are dropped']],
  async ask(db, range) {
    const days = await listDrops(db, range);
    return {
      columns: [
        ['day', 'plain'],
        ['reason', 'plain'],
        ['events', 'plain'],
      ],
      rows: days.map((row) => [row.day, row.reason, row.events]),
    };
  },
};
