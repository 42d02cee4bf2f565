/** `latchkey subscriber`: newsletter subscribers. */
import { SUBSCRIBER_STATES, subscribers } from '@latchkey/contract';

import { readColumns } from '#server/features/lists/read-columns.ts';
import type { SubscriberFacts } from '#server/features/subscribers/facts.ts';
import { viewSubscriber } from '#server/features/subscribers/list-subscribers.ts';
import { eraseSubscriber } from '#server/features/subscribers/manual-changes.ts';
import { stateOf } from '#server/features/subscribers/rules/subscription.ts';
import {
  type AddressView,
  readSubscribers,
  showSubscriber,
} from '#server/features/subscribers/view-subscribers.ts';

import { auditAccess, currentActor } from './actor.ts';
import { commandGroup } from './command.ts';
import { formatLines, formatOption, outputOption, writeExport } from './export-file.ts';
import { addressArgument, limitOption, reasonOption, requiredReasonOption } from './options.ts';
import { choice } from './parameters.ts';
import { type Cell, formatFields, formatHistory, formatRows, joinSections } from './table.ts';
import { contextCommand } from './with-context.ts';

const stateOption = choice('--state <state>', 'only subscribers in this state', SUBSCRIBER_STATES);

const listCommand = contextCommand({
  name: 'list',
  description:
    'List newsletter subscribers, newest first. The audit log records each list, since it shows addresses.',
  examples: {
    'subscriber list': 'Newest subscribers',
    'subscriber list --state pending': 'Subscribers without confirmation',
  },
  parameters: [stateOption, limitOption(50)],
  async run(context, { state, limit }) {
    const access = { action: 'subscriber.list', subjectId: 'subscribers' };
    await auditAccess(context, { ...access, details: { limit, state } });
    const found: SubscriberFacts[] = [];
    for await (const subscriber of readSubscribers(context, state ?? undefined)) {
      found.push(subscriber);
      if (found.length === limit) break;
    }
    const text = formatRows(found, 'No matching subscribers.', [
      ['address', (subscriber) => subscriber.email],
      ['state', stateOf],
      ['language', (subscriber) => subscriber.language],
      ['subscribed', (subscriber) => subscriber.firstSubscribedAt],
      ['confirmed', (subscriber) => subscriber.confirmedAt],
    ]);
    return { json: found.map(viewSubscriber), text };
  },
});

const showCommand = contextCommand({
  name: 'show',
  description: 'Show the subscription, suppression, outreach and manual changes of an address.',
  examples: {
    'subscriber show ada@example.com': 'State of a subscription',
    'subscriber show ada@example.com --json': 'Every field, to answer a request for access',
  },
  parameters: [addressArgument],
  async run(context, { address }) {
    const view = await showSubscriber(context, address);
    return { json: addressToJson(address, view), text: formatAddress(address, view) };
  },
});

function addressToJson(
  email: string,
  { id, subscriber, suppression, outreach, history }: AddressView,
) {
  return {
    id,
    address: email,
    subscriber: subscriber && viewSubscriber(subscriber),
    suppression: suppression && {
      reason: suppression.reason,
      suppressed_at: suppression.suppressedAt,
    },
    outreach: outreach.map(({ createdAt, ...mail }) => ({ ...mail, created_at: createdAt })),
    history: history.map(({ occurredAt, ...entry }) => ({ occurred_at: occurredAt, ...entry })),
  };
}

function formatAddress(email: string, { id, subscriber, ...view }: AddressView): string {
  const { suppression, outreach, history } = view;
  const fields = formatFields([
    ['id', id],
    ['address', subscriber?.email ?? email],
    ...(subscriber === null
      ? [['state', 'not subscribed'] as const]
      : describeSubscription(subscriber)),
    ['suppressed because', suppression?.reason ?? null],
    ['suppressed since', suppression?.suppressedAt ?? null],
    ['outreach messages', outreach.length],
  ]);
  return joinSections(fields, formatHistory(history));
}

function describeSubscription(subscriber: SubscriberFacts): (readonly [string, Cell])[] {
  return [
    ['state', stateOf(subscriber)],
    ['first subscribed', subscriber.firstSubscribedAt],
    ['last subscribed', subscriber.subscribedAt],
    ['confirmed', subscriber.confirmedAt],
    ['opt-in', subscriber.optIn],
    ['language', subscriber.language],
    ['confirmation sent', subscriber.confirmationMailedAt],
    ['confirmation error', subscriber.confirmationProblem],
  ];
}

const exportCommand = contextCommand({
  name: 'export',
  description:
    'Export newsletter subscribers, one on each line, newest first. The audit log records each export.',
  examples: {
    'subscriber export --state confirmed --output news.csv':
      'For a newsletter tool; spreadsheet formulas in addresses are escaped',
    'subscriber export --format jsonl': 'For another program, as a stream',
  },
  hasJson: false,
  parameters: [stateOption, formatOption, outputOption, reasonOption],
  async run(context, { state, format, output, reason }) {
    const access = { action: 'subscriber.export', subjectId: 'subscribers', reason };
    await auditAccess(context, { ...access, details: { format, state } });
    await writeExport('subscribers', output, () =>
      formatLines(readItems(context, state ?? undefined), readColumns(subscribers.columns), format),
    );
  },
});

async function* readItems(...args: Parameters<typeof readSubscribers>) {
  for await (const subscriber of readSubscribers(...args)) yield viewSubscriber(subscriber);
}

const eraseCommand = contextCommand({
  name: 'erase',
  description:
    'Delete the subscription of an address and its outreach, and suppress the address. Licenses keep their customer data: see latchkey customer erase.',
  examples: {
    'subscriber erase ada@example.com --reason "request of 3 May"':
      'Answer a request for erasure (GDPR, article 17)',
  },
  parameters: [addressArgument, requiredReasonOption],
  async run(context, { address: email, reason }) {
    const erased = await eraseSubscriber(context, { email, actor: currentActor(), reason });
    return {
      json: erased,
      text: erased.existed
        ? `Erased ${erased.id}. The address is suppressed.`
        : 'The address was not subscribed. It is suppressed.',
    };
  },
});

export const subscriberCommand = commandGroup(
  'subscriber',
  'List, show, export and erase newsletter subscribers.',
  [listCommand, showCommand, exportCommand, eraseCommand],
);
