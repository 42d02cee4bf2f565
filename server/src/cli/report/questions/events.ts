import { Option } from 'commander';

import type { Queryable } from '#server/db/statement.ts';
import {
  listEventTotals,
  listEventVersions,
  listEventsByDay,
} from '#server/features/analytics/reports/event-reports.ts';
import type { DayRange } from '#server/features/analytics/rules/days.ts';

import { usageError } from '../../command-error.ts';
import { MONTH_DAYS, type Question } from '../question.ts';
import type { Answer } from '../view.ts';

/** How often events arrived. */
export const events: Question = {
  name: 'events',
  description:
    'How often events arrived, by name; installs are counted once a day, and the most of a day is told.',
  defaultDays: MONTH_DAYS,
  options: [
    new Option('--name <name>', 'of this event only'),
    new Option(
      '--by <what>',
      'how it is broken down (default: total, or day for one event)',
    ).choices(['total', 'day', 'version']),
  ],
  examples: [
    ['report events', 'Which events arrive, the most frequent first'],
    ['report events --name export_finished', 'One event day by day'],
    ['report events --name export_finished --by version', 'Which versions it comes from'],
  ],
  async ask(db, range, { name, by = name === undefined ? 'total' : 'day' }) {
    if (by === 'day') return askEventsByDay(db, range, name ?? null);
    if (by === 'version') {
      if (name === undefined) throw usageError('--by version needs the --name of an event.');
      const found = await listEventVersions(db, range, name);
      return {
        columns: [['version', 'version'], ...eventColumns],
        rows: found.map((row) => [row.version, row.events, row.days, row.mostInstalls]),
      };
    }
    if (name !== undefined) throw usageError('--name goes with --by day or --by version.');
    const totals = await listEventTotals(db, range);
    return {
      columns: [['name', 'name'], ...eventColumns],
      rows: totals.map((row) => [row.name, row.events, row.days, row.mostInstalls]),
    };
  },
};

const eventColumns = [
  ['events', 'plain'],
  ['days', 'plain'],
  ['most_installs', 'plain'],
] as const;

async function askEventsByDay(
  db: Queryable,
  range: DayRange,
  name: string | null,
): Promise<Answer> {
  const days = await listEventsByDay(db, range, name);
  return {
    columns: [
      ['day', 'plain'],
      ['name', 'name'],
      ['events', 'plain'],
      ['installs', 'plain'],
    ],
    rows: days.map((row) => [row.day, row.name, row.events, row.installs]),
  };
}
