/** `latchkey webhook`: the webhook events that payment providers sent. */
import { Command, Option } from 'commander';

import { PRICE_PROVIDERS } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import { dismissEvents } from '#server/features/billing/stored-events.ts';
import { PaddleApiError } from '#server/features/billing/providers/paddle/paddle-api.ts';
import { type ListedEvent, listNewestEvents } from '#server/features/billing/queries/event-list.ts';
import type { EventFilter, EventStatus } from '#server/features/billing/queries/events.ts';
import { reconcilePaddle, type Reconciliation } from '#server/features/billing/reconcile.ts';
import { replayEvents, type ReplayOutcome } from '#server/features/billing/stored-events.ts';

import { currentActor } from './actor.ts';
import { failed, usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { jsonOption, limitOption, moment, newCommand, requiredReasonOption } from './options.ts';
import { countOf, type OutputOptions, printNote, printResult, withProgress } from './output.ts';
import { formatRows, formatTable } from './table.ts';
import { withContext } from './with-context.ts';

export function webhookCommand(): Command {
  return new Command('webhook')
    .description('List, replay and dismiss the webhook events of payment providers.')
    .addCommand(listCommand())
    .addCommand(replayCommand())
    .addCommand(dismissCommand())
    .addCommand(reconcileCommand());
}

/** The options that select events. */
interface EventOptions extends OutputOptions {
  readonly status?: EventStatus;
  readonly provider?: string;
  readonly since?: Date;
}

function addEventOptions(command: Command, statuses: readonly EventStatus[]): Command {
  return command
    .addOption(new Option('--status <status>', 'only this status').choices([...statuses]))
    .addOption(
      new Option('--provider <name>', 'only this payment provider').choices([...PRICE_PROVIDERS]),
    )
    .option('--since <time>', 'only events received since a date (00:00 UTC) or date-time', moment)
    .addOption(jsonOption());
}

function toFilter(options: EventOptions, eventId: string | null = null): EventFilter {
  const { status = null, provider = null, since = null } = options;
  return { eventId, status, provider, since };
}

function toSubjectFilter(options: EventOptions, eventId: string | undefined): EventFilter {
  if ((eventId === undefined) !== (options.status === undefined)) {
    return toFilter(options, eventId ?? null);
  }
  throw usageError('Name either the id of an event or a --status.');
}

interface ListOptions extends EventOptions {
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

function listCommand(): Command {
  const command = newCommand(
    'list',
    'List the latest webhook events of payment providers and their outcome, oldest first.',
    [
      ['webhook list --status failed', 'Events that failed, and why'],
      ['webhook list --since 2027-03-01 --json', 'Events since a day, as JSON'],
    ],
  )
    .addOption(limitOption(DEFAULT_LIMIT))
    .action(list);
  return addEventOptions(command, ['processed', 'ignored', 'deferred', 'failed']);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async ({ pool }) => {
    const events = await listNewestEvents(pool, toFilter(options), options.limit);
    if (events.length === options.limit) {
      printNote(`Only the newest ${options.limit} events are shown; --limit shows more.`);
    }
    printResult(options, events.map(listedToJson), () =>
      formatRows(events, 'No matching events.', [
        ['received', (event) => event.receivedAt],
        ['provider', (event) => event.provider],
        ['event', (event) => event.eventId],
        ['type', (event) => event.type],
        ['status', (event) => event.status],
        ['attempts', (event) => event.attempts],
        ['message', (event) => event.message],
      ]),
    );
  });
}

/** Without the body, which contains personal data. */
function listedToJson(event: ListedEvent) {
  return {
    event_id: event.eventId,
    provider: event.provider,
    type: event.type,
    status: event.status,
    message: event.message,
    attempts: event.attempts,
    occurred_at: event.occurredAt,
    received_at: event.receivedAt,
    next_attempt_at: event.nextAttemptAt,
  };
}

interface ChangeOptions extends EventOptions {
  readonly reason: string;
}

const EVENT_ARGUMENT = ['[event]', 'id of the event; without it, --status selects events'] as const;

function replayCommand(): Command {
  const command = newCommand(
    'replay',
    'Apply stored webhook events again. An event that was applied before changes nothing.',
    [
      ['webhook replay evt_01hv8x29kz0t586xy6zn1a62ny --reason "fixed"', 'Replay one event'],
      [
        'webhook replay --status ignored --since 2027-03-01 --reason "price added"',
        'Replay events of a price that was missing in the catalogue',
      ],
    ],
  )
    .argument(...EVENT_ARGUMENT)
    .addOption(requiredReasonOption())
    .action(replay);
  return addEventOptions(command, ['failed', 'deferred', 'ignored']);
}

const NOT_APPLIED: ReadonlySet<string> = new Set(['failed', 'deferred', 'removed']);

async function replay(eventId: string | undefined, options: ChangeOptions): Promise<void> {
  const filter = toSubjectFilter(options, eventId);
  await withContext(async (context) => {
    const outcomes: ReplayOutcome[] = [];
    const order = { filter, actor: currentActor(), reason: options.reason };
    await withProgress('events', (report) =>
      replayEvents(context, order, (outcome) => {
        outcomes.push(outcome);
        report(outcomes.length);
      }),
    );
    if (outcomes.length === 0 && eventId !== undefined) throw failed('No such event.');
    const json = outcomes.map(({ eventId: id, provider, type, status, message }) => ({
      event_id: id,
      provider,
      type,
      status,
      message,
    }));
    printResult(options, json, () =>
      formatRows(outcomes, 'No matching events.', [
        ['provider', (outcome) => outcome.provider],
        ['event', (outcome) => outcome.eventId],
        ['type', (outcome) => outcome.type],
        ['status', (outcome) => outcome.status],
        ['message', (outcome) => outcome.message],
      ]),
    );
    if (outcomes.some(({ status }) => NOT_APPLIED.has(status))) commandProcess().exitCode = 1;
  });
}

function dismissCommand(): Command {
  const command = newCommand(
    'dismiss',
    'Mark failed or deferred webhook events as ignored. They stay stored, but are not retried or reported any more.',
    [
      [
        'webhook dismiss evt_01hv8x29kz0t586xy6zn1a62ny --reason "sandbox event"',
        'Dismiss one event',
      ],
      [
        'webhook dismiss --status failed --provider standard --reason "test of the shop"',
        'Dismiss every failed event of a provider',
      ],
    ],
  )
    .argument(...EVENT_ARGUMENT)
    .addOption(requiredReasonOption())
    .action(dismiss);
  return addEventOptions(command, ['failed', 'deferred']);
}

async function dismiss(eventId: string | undefined, options: ChangeOptions): Promise<void> {
  const filter = toSubjectFilter(options, eventId);
  await withContext(async (context) => {
    const order = { filter, actor: currentActor(), reason: options.reason };
    const dismissed = await dismissEvents(context, order);
    if (dismissed === 0 && eventId !== undefined) {
      throw failed('No failed or deferred event with this id.');
    }
    printResult(options, { dismissed }, () => `Dismissed ${countOf(dismissed, 'event')}.`);
  });
}

interface ReconcileOptions extends OutputOptions {
  readonly since?: Date;
}

function reconcileCommand(): Command {
  return newCommand(
    'reconcile',
    "Compare Paddle's event log with the received events, and apply the missing ones. The service does this every hour. Events of the last hour are skipped, since their webhooks may still arrive.",
    [
      ['webhook reconcile', 'Continue where the last comparison ended'],
      ['webhook reconcile --since 2027-03-01', 'After a long outage'],
    ],
  )
    .option(
      '--since <time>',
      'start at a date or date-time in UTC (default: the end of the last comparison)',
      moment,
    )
    .addOption(jsonOption())
    .action(reconcile);
}

async function reconcile(options: ReconcileOptions): Promise<void> {
  await withContext(async (context) => {
    if (context.paddleApi === null) {
      throw failed("Reading Paddle's event log needs an API key: set LATCHKEY_PADDLE_API_KEY.");
    }
    const found = await compareEvents(context, options.since ?? null);
    if (found === null) {
      throw failed(
        'No Paddle event has been received yet, so there is no start for the comparison: set one with --since.',
      );
    }
    const repaired = found.repaired.map(({ eventId, type, status }) => ({
      event_id: eventId,
      type,
      status,
    }));
    printResult(options, { compared: found.compared, repaired }, () => formatReconciliation(found));
    if (repaired.some(({ status }) => status === 'deferred')) commandProcess().exitCode = 1;
  });
}

async function compareEvents(context: Context, since: Date | null): Promise<Reconciliation | null> {
  const order = { actor: currentActor(), since, unlimited: true };
  try {
    return await withProgress('events compared', (report) =>
      reconcilePaddle(context, { ...order, onCompared: report }),
    );
  } catch (error) {
    if (!(error instanceof PaddleApiError)) throw error;
    throw failed(
      `Cannot read Paddle's event log: ${error.message}. Events that were applied stay applied.`,
      { cause: error },
    );
  }
}

function formatReconciliation({ compared, repaired }: Reconciliation): string {
  const summary = `Compared ${countOf(compared, 'event')}, ${repaired.length} missing.`;
  if (repaired.length === 0) return summary;
  const rows = repaired.map(({ eventId, type, status }) => [eventId, type, status]);
  return `${summary}\n${formatTable(['event', 'type', 'status'], rows)}`;
}
