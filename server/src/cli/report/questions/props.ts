import { Option } from 'commander';

import { listEventProps } from '#server/features/analytics/reports/event-reports.ts';

import { MONTH_DAYS, type Question } from '../question.ts';

/** Which values the props of an event have. */
export const props: Question = {
  name: 'props',
  description: "Which values an event's props have, the most frequent first.",
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--name <name>', 'the event').makeOptionMandatory(),
    new Option('--key <key>', 'one of its props'),
  ],
  examples: [
    ['report props --name export_finished', 'All of its props'],
    ['report props --name export_finished --key format', 'One of them'],
  ],
  async ask(db, range, { name = '', key }) {
    const values = await listEventProps(db, range, name, key ?? null);
    return {
      columns: [
        ['key', 'name'],
        ['value', 'name'],
        ['events', 'plain'],
      ],
      rows: values.map((row) => [row.key, row.value, row.events]),
    };
  },
};
