/** `latchkey report events`, `props` and `drops`. */
import {
  listDrops,
  listEventProps,
  listEventsByDay,
  listEventTotals,
  listEventVersions,
} from '#server/features/analytics/reports/event-reports.ts';
import { openArchive } from '#server/features/analytics/archive/open-archive.ts';
import { withArchivedDays } from '#server/features/analytics/archive/with-archived-days.ts';
import type { DayRange } from '#server/features/analytics/rules/days.ts';
import type { Context } from '#server/context.ts';
import type { Queryable } from '#server/db/statement.ts';
import { countOf } from '#server/lib/text.ts';

import { usageError } from '../command-error.ts';
import { withStatus } from '../output.ts';
import { anyText, choice, option } from '../parameters.ts';
import { contextCommand } from '../with-context.ts';
import type { Answer } from './answer.ts';
import { MONTH_DAYS, printReport, rangeOptions, type ReportSource } from './print-report.ts';

const archiveOption = option(
  '--archive <place>',
  'read the days of an archive (directory or s3://bucket/prefix) from its files',
  anyText,
);

/**
 * Reads the roll-ups of the database or, with an archive, those of its days from its files: into temporary tables, which a
 * replica cannot create.
 */
function withArchive(context: Context, place: string | null): ReportSource {
  const { clock, pool, reports } = context;
  if (place === null) return { clock, reports };
  return { clock, reports: { read: (work) => work(pool) } };
}

async function readRollups(
  { pool }: Context,
  place: string | null,
  range: DayRange,
  db: Queryable,
  read: (db: Queryable) => Promise<Answer>,
): Promise<Answer> {
  if (place === null) return read(db);
  const archive = await openArchive(place, process.env);
  return withStatus((show) =>
    withArchivedDays({ archive, pool }, range, read, (day, events) =>
      show(`${day}: read ${countOf(events, 'event')}`),
    ),
  );
}

export const eventsCommand = contextCommand({
  name: 'events',
  description: 'Count events by name, with the highest number of installs on one day.',
  examples: {
    'report events': 'Events of the last 30 days, most frequent first',
    'report events --name export_finished': 'One event by day',
    'report events --name export_finished --by version': 'One event by version of the application',
    'report events --from 2026-01-01 --to 2026-03-31 --archive /var/lib/latchkey-archive':
      'Days whose events were archived, counted again from the files',
  },
  parameters: [
    option('--name <name>', 'only this event', anyText),
    choice(
      '--by <what>',
      'all days together, each day, or each version (default: total, or day with --name)',
      ['total', 'day', 'version'],
    ),
    archiveOption,
    ...rangeOptions(MONTH_DAYS),
  ],
  run(context, { name, by, archive, ...options }) {
    const count = selectCount(name, by);
    return printReport(withArchive(context, archive), options, MONTH_DAYS, (from, range) =>
      readRollups(context, archive, range, from, (db) => count(db, range)),
    );
  },
});

type Count = (db: Queryable, range: DayRange) => Promise<Answer>;

function selectCount(name: string | null, by: string | null): Count {
  if (by === 'version') {
    if (name === null) throw usageError('--by version needs --name.');
    return (db, range) => countByVersion(db, range, name);
  }
  if (by === 'day' || (by === null && name !== null)) {
    return (db, range) => countByDay(db, range, name);
  }
  if (name !== null) throw usageError('--name needs --by day or --by version.');
  return countAll;
}

async function countAll(db: Queryable, range: DayRange): Promise<Answer> {
  const totals = await listEventTotals(db, range);
  return {
    columns: ['name', 'events', 'days', 'most_installs'],
    rows: totals.map((row) => [row.name, row.events, row.days, row.mostInstalls]),
  };
}

async function countByDay(db: Queryable, range: DayRange, name: string | null): Promise<Answer> {
  const days = await listEventsByDay(db, range, name);
  return {
    columns: ['day', 'name', 'events', 'installs'],
    rows: days.map((row) => [row.day, row.name, row.events, row.installs]),
  };
}

async function countByVersion(db: Queryable, range: DayRange, name: string): Promise<Answer> {
  const found = await listEventVersions(db, range, name);
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
    archiveOption,
    ...rangeOptions(MONTH_DAYS),
  ],
  run: (context, { name, key, archive, ...options }) =>
    printReport(withArchive(context, archive), options, MONTH_DAYS, (from, range) =>
      readRollups(context, archive, range, from, (db) => countProps(db, range, { name, key })),
    ),
});

async function countProps(
  db: Queryable,
  range: DayRange,
  { name, key }: { readonly name: string; readonly key: string | null },
): Promise<Answer> {
  const values = await listEventProps(db, range, name, key);
  return {
    columns: ['key', 'value', 'events'],
    rows: values.map((row) => [row.key, row.value, row.events]),
  };
}

export const dropsCommand = contextCommand({
  name: 'drops',
  description: 'Count events that were not stored, by reason.',
  examples: { 'report drops': 'Dropped events of the last 30 days' },
  parameters: rangeOptions(MONTH_DAYS),
  run: (context, options) =>
    printReport(context, options, MONTH_DAYS, async (db, range) => {
      const days = await listDrops(db, range);
      return {
        columns: ['day', 'reason', 'events'],
        rows: days.map((row) => [row.day, row.reason, row.events]),
      };
    }),
});
