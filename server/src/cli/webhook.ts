/** `latchkey webhook`: the webhook events that payment providers sent. */
import { PAYMENT_SOURCES } from '@latchkey/contract';

import { listNewestPaymentEvents } from '#server/features/billing/list-payment-events.ts';
import { deleteTestData } from '#server/features/billing/delete-test-data.ts';
import type { EventFilter, EventStatus } from '#server/features/billing/queries/events.ts';
import type { Reconciliation } from '#server/features/billing/reconcile.ts';
import { runReconciliation } from '#server/features/billing/run-reconciliation.ts';
import {
  dismissEvents,
  replayEvents,
  type ReplayOutcome,
} from '#server/features/billing/stored-events.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { command, commandGroup } from './command.ts';
import { failed, usageError } from './command-error.ts';
import { limitOption, timestamp, requiredReasonOption } from './options.ts';
import { printNote, withProgress } from './output.ts';
import { anyText, choice, flag, option, optionalArgument } from './parameters.ts';
import { formatRows } from './table.ts';
import {
  issueCommand,
  linkCommand,
  setAddressCommand,
  setProductCommand,
  showCommand,
} from './webhook-repair.ts';
import { formatEvents, toEventJson } from './webhook-view.ts';
import { contextCommand, withContext } from './with-context.ts';

/** The options that select events. */
function eventOptions<Status extends EventStatus>(statuses: readonly Status[]) {
  return [
    choice('--status <status>', 'only this status', statuses),
    choice('--provider <name>', 'only this payment provider', PAYMENT_SOURCES),
    option(
      '--since <time>',
      'only events received since a date (00:00 UTC) or date-time',
      timestamp,
    ),
  ] as const;
}

const attentionFlag = flag('--attention', 'only payments that do not have all of their licenses');

const listCommand = contextCommand({
  name: 'list',
  description:
    'List the latest webhook events of payment providers: what happened, and the outcome, oldest first.',
  examples: {
    'webhook list --status failed': 'Events that failed, and why',
    'webhook list --attention': 'Payments that do not have all of their licenses, and why',
    'webhook list --since 2027-03-01 --json': 'Events since a day, as JSON',
  },
  parameters: [
    ...eventOptions(['processed', 'ignored', 'deferred', 'failed']),
    attentionFlag,
    limitOption(100),
  ],
  async run(context, { limit, ...filter }) {
    const events = await listNewestPaymentEvents(context, filter, limit);
    if (events.length === limit) {
      printNote(`Only the newest ${limit} events are shown; --limit shows more.`);
    }
    return { json: events.map(toEventJson), text: formatEvents(events) };
  },
});

/** One event, or every event that options select. */
const eventArgument = optionalArgument(
  '[event]',
  'id of the event; without it, --status selects events',
  anyText,
);

type Selection = Omit<EventFilter, 'eventId'> & {
  readonly event: string | null;
  readonly attention?: boolean;
};

function toFilter(selection: Selection): EventFilter {
  const { event: eventId, status, provider, since, attention = false } = selection;
  const selections = [eventId !== null, status !== null, attention];
  if (selections.filter(Boolean).length === 1) {
    return { eventId, status, provider, since, unmatchedOnly: attention };
  }
  throw usageError('Name either the id of an event or a --status.');
}

const NOT_APPLIED: ReadonlySet<string> = new Set(['failed', 'deferred', 'removed']);

const replayCommand = command({
  name: 'replay',
  description:
    'Apply stored webhook events again. An event that was applied before changes nothing.',
  examples: {
    'webhook replay evt_01hv8x29kz0t586xy6zn1a62ny --reason "fixed"': 'Replay one event',
    'webhook replay --attention --since 2027-03-01 --reason "price added"':
      'Replay payments of a price that was missing in the catalogue',
  },
  parameters: [
    eventArgument,
    ...eventOptions(['failed', 'deferred', 'ignored']),
    attentionFlag,
    requiredReasonOption,
  ],
  async run({ reason, ...selection }) {
    const outcomes = await replay(toFilter(selection), reason);
    if (outcomes.length === 0 && selection.event !== null) throw failed('No such event.');
    const json = outcomes.map(({ eventId, provider, type, status, message }) => ({
      event_id: eventId,
      provider,
      type,
      status,
      message,
    }));
    const text = formatRows(json, 'No matching events.', [
      ['provider', (outcome) => outcome.provider],
      ['event', (outcome) => outcome.event_id],
      ['type', (outcome) => outcome.type],
      ['status', (outcome) => outcome.status],
      ['message', (outcome) => outcome.message],
    ]);
    return { json, text, failed: outcomes.some(({ status }) => NOT_APPLIED.has(status)) };
  },
});

async function replay(filter: EventFilter, reason: string): Promise<readonly ReplayOutcome[]> {
  const change = { filter, actor: currentActor(), reason };
  const outcomes: ReplayOutcome[] = [];
  await withContext((context) =>
    withProgress('events', (report) =>
      replayEvents(context, change, (outcome) => report(outcomes.push(outcome))),
    ),
  );
  return outcomes;
}

const dismissCommand = command({
  name: 'dismiss',
  description:
    'Mark failed or deferred webhook events as ignored, or one payment that needs attention. They stay stored, but are not retried or reported any more.',
  examples: {
    'webhook dismiss evt_01hv8x29kz0t586xy6zn1a62ny --reason "sandbox event"': 'Dismiss one event',
    'webhook dismiss --status failed --provider standard --reason "test of the shop"':
      'Dismiss every failed event of a provider',
  },
  parameters: [eventArgument, ...eventOptions(['failed', 'deferred']), requiredReasonOption],
  async run({ reason, ...selection }) {
    const change = { filter: toFilter(selection), actor: currentActor(), reason };
    const dismissed = await withContext((context) => dismissEvents(context, change));
    if (dismissed === 0 && selection.event !== null) {
      throw failed(
        'No failed or deferred event with this id, and no payment that needs attention.',
      );
    }
    return { json: { dismissed }, text: `Dismissed ${countOf(dismissed, 'event')}.` };
  },
});

const deleteTestDataCommand = contextCommand({
  name: 'delete-test-data',
  description:
    'Delete what the test modes of payment providers created: events, payments, customers, and licenses with their machines. Use it when a test is over.',
  examples: { 'webhook delete-test-data --reason "test is over"': 'Delete all test purchases' },
  parameters: [requiredReasonOption],
  async run(context, { reason }) {
    const deleted = await deleteTestData(context, { actor: currentActor(), reason });
    const { events, licenses } = deleted;
    const text = `Deleted ${countOf(events, 'event')} and ${countOf(licenses, 'license')}.`;
    return { json: deleted, text };
  },
});

const reconcileCommand = contextCommand({
  name: 'reconcile',
  description:
    "Compare Paddle's event log and Gumroad's sales with the received events, and apply the missing ones. The service does this every hour. Events of the last hour are skipped, since their webhooks may still arrive.",
  examples: {
    'webhook reconcile': 'Continue where the last comparison ended',
    'webhook reconcile --since 2027-03-01': 'After a long outage',
  },
  parameters: [
    option(
      '--since <time>',
      'start at a date or date-time in UTC (default: the end of the last comparison)',
      timestamp,
    ),
  ],
  async run(context, { since }) {
    const options = { actor: currentActor(), since, unlimited: true };
    const found = await withProgress('events compared', (report) =>
      runReconciliation(context, { ...options, onCompared: report }),
    );
    if (found.failure !== null) throw failed(found.failure);
    const { compared, repaired } = found;
    return {
      json: {
        compared,
        repaired: repaired.map(({ eventId, type, status }) => ({
          event_id: eventId,
          type,
          status,
        })),
      },
      text: formatReconciliation(found),
      failed: repaired.some(({ status }) => status === 'deferred'),
    };
  },
});

function formatReconciliation({ compared, repaired }: Reconciliation): string {
  const table = formatRows(repaired, '', [
    ['event', (event) => event.eventId],
    ['type', (event) => event.type],
    ['status', (event) => event.status],
  ]);
  return `Compared ${countOf(compared, 'event')}, ${repaired.length} missing.\n${table}`;
}

export const webhookCommand = commandGroup(
  'webhook',
  'List, show, replay, dismiss, repair and delete the webhook events of payment providers.',
  [
    listCommand,
    showCommand,
    replayCommand,
    dismissCommand,
    deleteTestDataCommand,
    reconcileCommand,
    setProductCommand,
    issueCommand,
    linkCommand,
    setAddressCommand,
  ],
);
