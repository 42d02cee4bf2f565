/** `latchkey events`: the archive of analytics events. */
import { InvalidArgumentError } from 'commander';

import type { Context } from '#server/context.ts';
import { archiveDay, type DayOutcome } from '#server/features/analytics/archive/archive-day.ts';
import { DayError } from '#server/features/analytics/archive/archive-error.ts';
import { withArchiveLock } from '#server/features/analytics/archive/archive-lock.ts';
import type {
  ArchiveDependencies,
  ArchiveRequest,
} from '#server/features/analytics/archive/dependencies.ts';
import type { EventArchive } from '#server/features/analytics/archive/event-archive.ts';
import { openArchive } from '#server/features/analytics/archive/open-archive.ts';
import {
  planArchive,
  recordArchive,
  type ArchivePlan,
} from '#server/features/analytics/archive/plan-archive.ts';
import { countDayEvents } from '#server/features/analytics/queries/roll-up-events.ts';
import { parseDay, type Day } from '#server/features/analytics/rules/days.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { commandGroup, type Result } from './command.ts';
import { explainError } from './command-error.ts';
import { reasonOption } from './options.ts';
import { withStatus } from './output.ts';
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
    flag('--replace', 'write files of this database again that differ from it, or are damaged'),
    flag('--dry-run', 'list the days, and change nothing').conflicts('replace'),
    reasonOption,
  ],
  async run(context, { before, to, keep, replace, dryRun, reason }) {
    const archive = await openArchive(to, process.env);
    // Fails before a day is written, if the archive cannot be read.
    const existing = await archive.listDays();
    if (dryRun) return listPlan(context, archive, before, existing);
    const request = { before, keep, replace, reason, actor: currentActor() };
    return withArchiveLock({ ...context, archive }, (lock) =>
      archiveClosed({ ...context, archive, lock }, request),
    );
  },
});

function readDay(text: string): Day {
  const day = parseDay(text);
  if (day !== null) return day;
  throw new InvalidArgumentError('Expected a date such as 2027-03-01.');
}

async function listPlan(
  context: Context,
  archive: EventArchive,
  before: Day,
  existing: readonly Day[],
): Promise<Result> {
  const plan = await planArchive(context, before);
  const days: { day: Day; events: number; archived: boolean }[] = [];
  for (const day of plan.closed) {
    const events = await countDayEvents(context.pool, day);
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

/** A day that could not be archived. */
interface DayFailure {
  readonly day: Day;
  readonly error: string;
}

interface ArchiveRun {
  readonly plan: ArchivePlan;
  readonly outcomes: readonly DayOutcome[];
  readonly failures: readonly DayFailure[];
  /** The day at whose failure the run ended, since the next days would fail, too. */
  readonly stoppedAt: Day | null;
}

async function archiveClosed(deps: ArchiveDependencies, request: ArchiveRequest): Promise<Result> {
  const plan = await planArchive(deps, request.before);
  if (plan.closed.length > 0) await recordArchive(deps, request);
  const done = await withStatus((show) => archiveDays(deps, request, plan.closed, show));
  return present(deps.archive, { plan, ...done });
}

/** Archives days one after the other. @throws the error of the first day, unless other days can be archived */
async function archiveDays(
  deps: ArchiveDependencies,
  request: ArchiveRequest,
  days: readonly Day[],
  show: (status: string) => void,
): Promise<Omit<ArchiveRun, 'plan'>> {
  const outcomes: DayOutcome[] = [];
  const failures: DayFailure[] = [];
  for (const [index, day] of days.entries()) {
    const of = `${day} (${index + 1} of ${countOf(days.length, 'day')})`;
    const done = formatMegabytes(outcomes);
    try {
      const outcome = await archiveDay(deps, request, day, (step, events, total) => {
        const count = `${events < total ? `${events} of ` : ''}${countOf(total, 'event')}`;
        show(`${of}: ${step} ${count}, ${done} done`);
      });
      if (outcome !== null) outcomes.push(outcome);
    } catch (error) {
      const isOfDay = error instanceof DayError;
      if (!isOfDay && outcomes.length + failures.length === 0) throw error;
      failures.push({ day, error: explainError(error).lines.join(' ') });
      if (!isOfDay) return { outcomes, failures, stoppedAt: day };
    }
  }
  return { outcomes, failures, stoppedAt: null };
}

function present(archive: EventArchive, run: ArchiveRun): Result {
  const { failures, outcomes, plan, stoppedAt } = run;
  const failed = failures.length === 0 ? '' : `; ${countOf(failures.length, 'day')} failed`;
  const total = outcomes.reduce((sum, { events }) => sum + events, 0);
  const summary = `Archived ${countOf(outcomes.length, 'day')} with ${countOf(total, 'event')} (${formatMegabytes(outcomes)}) to ${archive.location}${failed}.`;
  return {
    json: {
      archive: archive.location,
      days: outcomes,
      open_days: plan.open,
      failed_days: failures,
      stopped_at: stoppedAt,
    },
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
    note: joinNotes([...describeFailures(run), describeOpen(plan)]),
    failed: failures.length > 0,
  };
}

function describeFailures({ failures, plan, stoppedAt }: ArchiveRun): string[] {
  const lines = failures.map(({ day, error }) => `${day} failed: ${error}`);
  if (stoppedAt === null) return lines;
  const left = plan.closed.filter((day) => day > stoppedAt).length;
  return left === 0
    ? lines
    : [...lines, `Stopped at ${stoppedAt}; not tried: ${countOf(left, 'day')}.`];
}

function joinNotes(notes: readonly (string | null)[]): string | null {
  const lines = notes.filter((note) => note !== null);
  return lines.length === 0 ? null : lines.join('\n');
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
