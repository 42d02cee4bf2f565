/** `latchkey events`: the archive of analytics events. */
import { InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import {
  archiveDay,
  planArchive,
  recordArchive,
  type ArchivePlan,
  type DayOutcome,
} from '#server/features/analytics/archive/archive-events.ts';
import { ArchiveError } from '#server/features/analytics/archive/archive-error.ts';
import type { ArchiveRequest } from '#server/features/analytics/archive/dependencies.ts';
import type { EventArchive } from '#server/features/analytics/archive/event-archive.ts';
import { openArchive } from '#server/features/analytics/archive/open-archive.ts';
import { countDayEvents } from '#server/features/analytics/queries/roll-up-events.ts';
import { parseDay, type Day } from '#server/features/analytics/rules/days.ts';

import { currentActor } from './actor.ts';
import { commandGroup, type Result } from './command.ts';
import { failed } from './command-error.ts';
import { reasonOption } from './options.ts';
import { countOf, withStatus } from './output.ts';
import { anyText, flag, option } from './parameters.ts';
import { formatRows, joinSections } from './table.ts';
import { contextCommand } from './with-context.ts';

const archiveCommand = contextCommand({
  name: 'archive',
  description:
    'Write the events of closed days to Parquet files, verify the files, and drop the days from the database. If it is interrupted, run it again. The audit log records each run and each dropped day.',
  examples: {
    'events archive --before 2026-06-01 --to /var/lib/latchkey-archive --dry-run':
      'List the days that would be archived',
    'events archive --before 2026-06-01 --to /var/lib/latchkey-archive': 'Archive to a directory',
    'events archive --before 2026-06-01 --to s3://my-bucket/latchkey --keep':
      'Copy to an object storage (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION, AWS_ENDPOINT_URL)',
  },
  parameters: [
    option('--before <date>', 'first day that is not archived, in UTC', readDay).required(),
    option('--to <place>', 'existing directory, or s3://bucket/prefix', anyText).required(),
    flag('--keep', 'write and verify the files, and drop nothing'),
    flag('--replace', 'write files again that differ from the database'),
    flag('--dry-run', 'list the days, and change nothing').conflicts('replace'),
    reasonOption,
  ],
  async run(context, { before, to, keep, replace, dryRun, reason }) {
    const archive = await openArchive(to, process.env);
    const plan = await planArchive(context, before);
    const existing = await archive.listDays();
    if (dryRun) return listPlan(context, archive, plan, existing);
    const request = { before, keep, replace, reason, actor: currentActor() };
    const outcomes = await archiveDays(context, archive, request, plan);
    return present(archive, plan, outcomes);
  },
});

function readDay(text: string): Day {
  const day = parseDay(text);
  if (day !== null) return day;
  throw new InvalidArgumentError('Expected a date such as 2027-03-01.');
}

async function listPlan(
  { pool }: Context,
  archive: EventArchive,
  plan: ArchivePlan,
  existing: readonly Day[],
): Promise<Result> {
  const days: { day: Day; events: number; archived: boolean }[] = [];
  for (const day of plan.closed) {
    const events = await countDayEvents(pool, day);
    if (events > 0) days.push({ day, events, archived: existing.includes(day) });
  }
  const total = days.reduce((sum, { events }) => sum + events, 0);
  const summary = `Would archive ${countOf(days.length, 'day')} with ${countOf(total, 'event')} to ${archive.location}.`;
  return {
    json: { archive: archive.location, days, open_days: plan.open },
    text: joinSections(
      formatRows(days, '', [
        ['day', (row) => row.day],
        ['events', (row) => row.events],
        ['has file', (row) => row.archived],
      ]),
      summary,
    ),
    note: describeOpen(plan),
  };
}

/** @throws CommandError at the first day that fails, which reports how many days are done */
async function archiveDays(
  context: Context,
  archive: EventArchive,
  request: ArchiveRequest,
  { closed }: ArchivePlan,
): Promise<readonly DayOutcome[]> {
  const deps = { ...context, archive };
  const outcomes: DayOutcome[] = [];
  if (closed.length > 0) await recordArchive(deps, request);
  await withStatus(async (show) => {
    for (const [index, day] of closed.entries()) {
      const of = `${day} (${index + 1} of ${countOf(closed.length, 'day')})`;
      const done = formatMegabytes(outcomes);
      const outcome = await archiveDay(deps, request, day, (step, events) =>
        show(`${of}: ${step} ${countOf(events, 'event')}, ${done} done`),
      ).catch((error: unknown) => {
        throw describeFailure(error, outcomes);
      });
      if (outcome !== null) outcomes.push(outcome);
    }
  });
  return outcomes;
}

/** One sentence more, when the days before are done. */
function describeFailure(error: unknown, outcomes: readonly DayOutcome[]): unknown {
  if (!(error instanceof ArchiveError) || outcomes.length === 0) return error;
  const done = `Done before: ${countOf(outcomes.length, 'day')}, until ${outcomes.at(-1)?.day}.`;
  return failed(`${error.message} ${done}`, { cause: error });
}

function present(
  archive: EventArchive,
  plan: ArchivePlan,
  outcomes: readonly DayOutcome[],
): Result {
  const total = outcomes.reduce((sum, { events }) => sum + events, 0);
  const summary = `Archived ${countOf(outcomes.length, 'day')} with ${countOf(total, 'event')} (${formatMegabytes(outcomes)}) to ${archive.location}.`;
  return {
    json: { archive: archive.location, days: outcomes, open_days: plan.open },
    text: joinSections(
      formatRows(outcomes, '', [
        ['day', (row) => row.day],
        ['events', (row) => row.events],
        ['MB', (row) => toMegabytes(row.bytes)],
        ['written', (row) => row.written],
        ['dropped', (row) => row.dropped],
      ]),
      summary,
    ),
    note: describeOpen(plan),
  };
}

function formatMegabytes(outcomes: readonly DayOutcome[]): string {
  return `${toMegabytes(outcomes.reduce((sum, { bytes }) => sum + bytes, 0))} MB`;
}

function toMegabytes(bytes: number): string {
  return (bytes / 1_000_000).toFixed(1);
}

function describeOpen({ open }: ArchivePlan): string | null {
  if (open.length === 0) return null;
  return `Not closed yet, from ${open[0]}: ${countOf(open.length, 'day')}. A day closes when its reports are final, a day after its end.`;
}

export const eventsCommand = commandGroup('events', 'Archive analytics events.', [archiveCommand]);
