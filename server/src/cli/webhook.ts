import { Command, Option } from 'commander';

import { PRICE_PROVIDERS } from '#server/config/catalog.ts';
import type { Context } from '#server/context.ts';
import { dismissEvents } from '#server/features/billing/dismiss-events.ts';
import { PaddleApiError } from '#server/features/billing/providers/paddle/paddle-api.ts';
import { type ListedEvent, listNewestEvents } from '#server/features/billing/queries/event-list.ts';
import type { EventFilter, EventStatus } from '#server/features/billing/queries/events.ts';
import { reconcilePaddle, type Reconciliation } from '#server/features/billing/reconcile.ts';
import { replayEvents, type ReplayOutcome } from '#server/features/billing/replay-events.ts';

import { commandProcess } from './command-process.ts';
import { currentActor } from './actor.ts';
import { failed, usageError } from './command-error.ts';
import { jsonOption, limitOption, moment, reasonOption, withExamples } from './options.ts';
import { formatTable, type OutputOptions, printNote, printResult, withProgress } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey webhook …` */
export function webhookCommand(): Command {
  return new Command('webhook')
    .description('The events that payment providers have sent.')
    .addCommand(webhookListCommand())
    .addCommand(webhookReplayCommand())
    .addCommand(webhookDismissCommand())
    .addCommand(webhookReconcileCommand());
}

/** What picks events of payment providers. */
interface EventOptions {
  readonly status?: EventStatus;
  readonly provider?: string;
  readonly since?: Date;
}

/** @param statuses those that can be asked for */
function eventOptions(statuses: readonly EventStatus[]): Option[] {
  return [
    new Option('--status <status>', 'only those with this status').choices([...statuses]),
    new Option('--provider <name>', 'only those of this payment provider').choices([
      ...PRICE_PROVIDERS,
    ]),
    new Option('--since <date>', 'only those received then or later').argParser(moment),
  ];
}

function toFilter(options: EventOptions, eventId: string | null = null): EventFilter {
  const { status = null, provider = null, since = null } = options;
  return { eventId, status, provider, since };
}

interface ListOptions extends OutputOptions, EventOptions {
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

function webhookListCommand(): Command {
  const command = new Command('list')
    .description(
      'List the events that payment providers sent last and what became of them, the oldest first.',
    )
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
  for (const option of eventOptions(['processed', 'ignored', 'deferred', 'failed'])) {
    command.addOption(option);
  }
  return withExamples(command, [
    ['webhook list --status failed', 'What was given up, and why'],
    ['webhook list --since 2027-03-01 --json', 'Since that day, for a program'],
  ]);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async ({ pool }) => {
    const events = await listNewestEvents(pool, toFilter(options), options.limit);
    if (events.length === options.limit) {
      printNote(`Only the newest ${options.limit} are shown; --limit shows more.`);
    }
    printResult(options, events.map(toJsonList), () =>
      events.length === 0
        ? 'There is no such event.'
        : formatTable(
            ['received', 'provider', 'event', 'type', 'status', 'tries', 'why'],
            events.map((event) => [
              event.receivedAt,
              event.provider,
              event.eventId,
              event.type,
              event.status,
              event.attempts,
              event.message,
            ]),
          ),
    );
  });
}

/** The body is left out: it is the buyer's. */
function toJsonList(event: ListedEvent) {
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

interface ReplayOptions extends OutputOptions, EventOptions {
  readonly reason: string;
}

function webhookReplayCommand(): Command {
  const command = new Command('replay')
    .description(
      'Apply kept events of payment providers again; what was applied before changes nothing.',
    )
    .argument('[event]', "the event's id; left out: those with a status")
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(replay);
  for (const option of eventOptions(['failed', 'deferred', 'ignored'])) command.addOption(option);
  return withExamples(command, [
    ['webhook replay evt_01hv8x29kz0t586xy6zn1a62ny --reason "fixed"', 'One event'],
    [
      'webhook replay --status ignored --since 2027-03-01 --reason "price added"',
      'Those of a price that the catalogue did not have yet',
    ],
  ]);
}

async function replay(eventId: string | undefined, options: ReplayOptions): Promise<void> {
  if ((eventId === undefined) === (options.status === undefined)) {
    throw usageError('Say which: either the id of an event or --status.');
  }
  await withContext(async (ctx) => {
    const outcomes: ReplayOutcome[] = [];
    const filter = toFilter(options, eventId ?? null);
    const order = { filter, actor: currentActor(), reason: options.reason };
    await withProgress('events', (report) =>
      replayEvents(ctx, order, (outcome) => {
        outcomes.push(outcome);
        report(outcomes.length);
      }),
    );
    if (outcomes.length === 0 && eventId !== undefined) throw failed('There is no such event.');
    printResult(options, outcomes.map(toJsonReplay), () => describeReplay(outcomes));
    const isAmiss = outcomes.some(({ status }) => NOT_APPLIED.has(status));
    if (isAmiss) commandProcess().exitCode = 1;
  });
}

const NOT_APPLIED: ReadonlySet<string> = new Set(['failed', 'deferred', 'removed']);

function toJsonReplay({ eventId, provider, type, status, message }: ReplayOutcome) {
  return { event_id: eventId, provider, type, status, message };
}

function describeReplay(outcomes: readonly ReplayOutcome[]): string {
  if (outcomes.length === 0) return 'There is no such event.';
  return formatTable(
    ['provider', 'event', 'type', 'status', 'why'],
    outcomes.map(({ provider, eventId, type, status, message }) => [
      provider,
      eventId,
      type,
      status,
      message,
    ]),
  );
}

interface DismissOptions extends OutputOptions, EventOptions {
  readonly reason: string;
}

function webhookDismissCommand(): Command {
  const command = new Command('dismiss')
    .description(
      'Say that nothing is to come of events that could not be applied; they are kept, and counted no more.',
    )
    .argument('[event]', "the event's id; left out: those with a status")
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(dismiss);
  for (const option of eventOptions(['failed', 'deferred'])) command.addOption(option);
  return withExamples(command, [
    [
      'webhook dismiss evt_01hv8x29kz0t586xy6zn1a62ny --reason "an event of the sandbox"',
      'One event',
    ],
    [
      'webhook dismiss --status failed --provider standard --reason "the shop was tested"',
      'All that one provider sent in vain',
    ],
  ]);
}

async function dismiss(eventId: string | undefined, options: DismissOptions): Promise<void> {
  if ((eventId === undefined) === (options.status === undefined)) {
    throw usageError('Say which: either the id of an event or --status.');
  }
  await withContext(async (ctx) => {
    const filter = toFilter(options, eventId ?? null);
    const order = { filter, actor: currentActor(), reason: options.reason };
    const dismissed = await dismissEvents(ctx, order);
    if (dismissed === 0 && eventId !== undefined) {
      throw failed('There is no such event that was given up or is tried again.');
    }
    printResult(options, { dismissed }, () =>
      dismissed === 1 ? '1 event is dismissed.' : `${dismissed} events are dismissed.`,
    );
  });
}

interface ReconcileOptions extends OutputOptions {
  readonly since?: Date;
}

function webhookReconcileCommand(): Command {
  const command = new Command('reconcile')
    .description(
      "Compare Paddle's own log of events with those that arrived, and apply the missed ones; the service does it every hour. Events of the last hour are left to their webhooks.",
    )
    .addOption(
      new Option(
        '--since <date>',
        'from then on, and not from where the last comparison ended',
      ).argParser(moment),
    )
    .addOption(jsonOption())
    .action(reconcile);
  return withExamples(command, [
    ['webhook reconcile', 'Now, from where the last comparison ended'],
    ['webhook reconcile --since 2027-03-01', 'Everything since that day, after a long outage'],
  ]);
}

async function reconcile(options: ReconcileOptions): Promise<void> {
  await withContext(async (ctx) => {
    if (ctx.paddleApi === null) {
      throw failed(
        "Paddle's log cannot be read without a key for its interface: set LATCHKEY_PADDLE_API_KEY.",
      );
    }
    const found = await compare(ctx, options.since ?? null);
    if (found === null) {
      throw failed(
        'No event of Paddle has been received yet, so it is not known where to begin: say it with --since.',
      );
    }
    printResult(options, toJsonReconcile(found), () => describeReconcile(found));
    if (found.repaired.some(({ status }) => status === 'deferred')) commandProcess().exitCode = 1;
  });
}

async function compare(ctx: Context, since: Date | null): Promise<Reconciliation | null> {
  const order = { actor: currentActor(), since, unlimited: true };
  try {
    return await withProgress('events compared', (report) =>
      reconcilePaddle(ctx, { ...order, onCompared: report }),
    );
  } catch (error) {
    if (!(error instanceof PaddleApiError)) throw error;
    const why = `Paddle's log cannot be read: ${error.message}.`;
    throw failed(`${why} What was applied until then stays applied.`, { cause: error });
  }
}

function toJsonReconcile({ compared, repaired }: Reconciliation) {
  return {
    compared,
    repaired: repaired.map(({ eventId, type, status }) => ({ event_id: eventId, type, status })),
  };
}

function describeReconcile({ compared, repaired }: Reconciliation): string {
  const head = `${compared} ${compared === 1 ? 'event' : 'events'} compared`;
  if (repaired.length === 0) return `${head}; none was missed.`;
  const rows = repaired.map(({ eventId, type, status }) => [eventId, type, status]);
  return `${head}; ${repaired.length} had never arrived:\n${formatTable(['event', 'type', 'status'], rows)}`;
}
