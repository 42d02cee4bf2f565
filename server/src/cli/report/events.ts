/** `latchkey report events`, `props` and `drops`. */
import type { Pool } from 'pg';

import {
  listDrops,
  listEventProps,
  listEventsByDay,
  listEventTotals,
  listEventVersions,
} from '#server/features/analytics/reports/event-reports.ts';
import type { DayRange } from '#server/features/analytics/rules/days.ts';

import { usageError } from '../command-error.ts';
import { anyText, choice, option } from '../parameters.ts';
import { contextCommand } from '../with-context.ts';
import type { Answer } from './answer.ts';
import { MONTH_DAYS, printReport, rangeOptions } from './print-report.ts';

export const eventsCommand = contextCommand({
  name: 'events',
  description: 'Count events by name, with the highest number of installs on one day.',
  examples: {
    'report events': 'Events of the last 30 days, most frequent first',
    'report events --name export_finished': 'One event by day',
    'report events --name export_finished --by version': 'One event by version of the application',
  },
  parameters: [
    option('--name <name>', 'only this event', anyText),
    choice(
      '--by <what>',
      'all days together, each day, or each version (default: total, or day with --name)',
      ['total', 'day', 'version'],
    ),
    ...rangeOptions(MONTH_DAYS),
  ],
  run: ({ clock, pool }, { name, by, ...options }) =>
    printReport({ clock, pool }, options, MONTH_DAYS, (range) => {
      if (by === 'version') return countByVersion(pool, range, name);
      if (by === 'day' || (by === null && name !== null)) return countByDay(pool, range, name);
      if (name !== null) throw usageError('--name needs --by day or --by version.');
      return countAll(pool, range);
    }),
});

async function countAll(pool: Pool, range: DayRange): Promise<Answer> {
  const totals = await listEventTotals(pool, range);
  return {
    columns: ['name', 'events', 'days', 'most_installs'],
    rows: totals.map((row) => [row.name, row.events, row.days, row.mostInstalls]),
  };
}

async function countByDay(pool: Pool, range: DayRange, name: string | null): Promise<Answer> {
  const days = await listEventsByDay(pool, range, name);
  return {
    columns: ['day', 'name', 'events', 'installs'],
    rows: days.map((row) => [row.day, row.name, row.events, row.installs]),
  };
}

async function countByVersion(pool: Pool, range: DayRange, name: string | null): Promise<Answer> {
  if (name === null) throw usageError('--by version needs --name.');
  const found = await listEventVersions(pool, range, name);
  return {
    columns: ['version', 'events', 'days', 'most_installs'],
    rows: found.map((row) => [row.version, row.events, row.days, row.mostInstalls]),
  };
}

export const propsCommand = contextCommand({
  name: 'props',
  description: 'Count the values of the props of an event, most frequent first.',
  examples: {
    'report props --name export_finished': 'Every prop',
    'report props --name export_finished --key format': 'One prop',
  },
  parameters: [
    option('--name <name>', 'name of the event', anyText).required(),
    option('--key <key>', 'only this prop', anyText),
    ...rangeOptions(MONTH_DAYS),
  ],
  run: ({ clock, pool }, { name, key, ...options }) =>
    printReport({ clock, pool }, options, MONTH_DAYS, async (range) => {
      const values = await listEventProps(pool, range, name, key);
      return {
        columns: ['key', 'value', 'events'],
        rows: values.map((row) => [row.key, row.value, row.events]),
      };
    }),
});

export const dropsCommand = contextCommand({
  name: 'drops',
  description: 'Count events that were not stored, by reason.',
  examples: { 'report drops': 'Dropped events of the last 30 days' },
  parameters: rangeOptions(MONTH_DAYS),
  run: ({ clock, pool }, options) =>
    printReport({ clock, pool }, options, MONTH_DAYS, async (range) => {
      const days = await listDrops(pool, range);
      return {
        columns: ['day', 'reason', 'events'],
        rows: days.map((row) => [row.day, row.reason, row.events]),
      };
    }),
});
