/** `latchkey subscriber`: newsletter subscribers. */
import { Command, Option } from 'commander';

import type { SubscriberFacts } from '#server/features/subscribers/facts.ts';
import { eraseSubscriber } from '#server/features/subscribers/manual-changes.ts';
import {
  stateOf,
  SUBSCRIBER_STATES,
  type SubscriberState,
} from '#server/features/subscribers/rules/subscription.ts';
import {
  type AddressView,
  readSubscribers,
  showSubscriber,
} from '#server/features/subscribers/view-subscribers.ts';

import { auditAccess, currentActor } from './actor.ts';
import {
  type ExportColumns,
  type ExportOptions,
  formatLines,
  formatOption,
  outputOption,
  writeExport,
} from './export-file.ts';
import {
  addressArgument,
  jsonOption,
  limitOption,
  newCommand,
  reasonOption,
  requiredReasonOption,
} from './options.ts';
import { type OutputOptions, printResult } from './output.ts';
import { type Cell, formatFields, formatRows } from './table.ts';
import { withContext } from './with-context.ts';

export function subscriberCommand(): Command {
  return new Command('subscriber')
    .description('List, show, export and erase newsletter subscribers.')
    .addCommand(listCommand())
    .addCommand(showCommand())
    .addCommand(exportCommand())
    .addCommand(eraseCommand());
}

function stateOption(): Option {
  return new Option('--state <state>', 'only subscribers in this state').choices(SUBSCRIBER_STATES);
}

/** The fields of a subscriber in JSON and in exports. */
const COLUMNS = {
  id: (subscriber) => subscriber.id,
  email: (subscriber) => subscriber.email,
  state: (subscriber) => stateOf(subscriber),
  language: (subscriber) => subscriber.language,
  first_subscribed_at: (subscriber) => subscriber.firstSubscribedAt,
  subscribed_at: (subscriber) => subscriber.subscribedAt,
  confirmed_at: (subscriber) => subscriber.confirmedAt,
  opt_in: (subscriber) => subscriber.optIn,
  suppressed_at: (subscriber) => subscriber.suppression?.suppressedAt ?? null,
  confirmation_mailed_at: (subscriber) => subscriber.confirmationMailedAt,
  confirmation_problem: (subscriber) => subscriber.confirmationProblem,
} satisfies ExportColumns<SubscriberFacts>;

function toSubscriberJson(subscriber: SubscriberFacts) {
  const fields = Object.entries(COLUMNS).map(([name, read]) => [name, read(subscriber)]);
  return Object.fromEntries(fields);
}

interface ListOptions extends OutputOptions {
  readonly state?: SubscriberState;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

function listCommand(): Command {
  return newCommand(
    'list',
    'List newsletter subscribers, newest first. The audit log records each list, since it shows addresses.',
    [
      ['subscriber list', 'Newest subscribers'],
      ['subscriber list --state pending', 'Subscribers without confirmation'],
    ],
  )
    .addOption(stateOption())
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async (context) => {
    const details = { limit: options.limit, state: options.state ?? null };
    await auditAccess(context, { action: 'subscriber.list', subjectId: 'subscribers', details });
    const found: SubscriberFacts[] = [];
    for await (const subscriber of readSubscribers(context, options.state)) {
      found.push(subscriber);
      if (found.length === options.limit) break;
    }
    printResult(options, found.map(toSubscriberJson), () =>
      formatRows(found, 'No matching subscribers.', [
        ['address', (subscriber) => subscriber.email],
        ['state', stateOf],
        ['language', (subscriber) => subscriber.language],
        ['subscribed', (subscriber) => subscriber.firstSubscribedAt],
        ['confirmed', (subscriber) => subscriber.confirmedAt],
      ]),
    );
  });
}

function showCommand(): Command {
  return newCommand(
    'show',
    'Show the subscription, suppression, outreach and manual changes of an address.',
    [
      ['subscriber show ada@example.com', 'State of a subscription'],
      ['subscriber show ada@example.com --json', 'Every field, to answer a request for access'],
    ],
  )
    .addArgument(addressArgument())
    .addOption(jsonOption())
    .action(show);
}

async function show(email: string, options: OutputOptions): Promise<void> {
  await withContext(async (context) => {
    const view = await showSubscriber(context, email);
    printResult(options, addressToJson(email, view), () => formatAddress(email, view));
  });
}

function addressToJson(
  email: string,
  { id, subscriber, suppression, outreach, history }: AddressView,
) {
  return {
    id,
    address: email,
    subscriber: subscriber && toSubscriberJson(subscriber),
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
  const changes = formatRows(history, '', [
    ['time', (entry) => entry.occurredAt],
    ['actor', (entry) => entry.actor],
    ['action', (entry) => entry.action],
    ['reason', (entry) => entry.reason],
  ]);
  return `${fields}\n\n${changes}`;
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

interface SubscriberExportOptions extends ExportOptions {
  readonly state?: SubscriberState;
  readonly reason?: string;
}

function exportCommand(): Command {
  return newCommand(
    'export',
    'Export newsletter subscribers, one on each line, newest first. The audit log records each export.',
    [
      [
        'subscriber export --state confirmed --output news.csv',
        'For a newsletter tool; spreadsheet formulas in addresses are escaped',
      ],
      ['subscriber export --format jsonl', 'For another program, as a stream'],
    ],
  )
    .addOption(stateOption())
    .addOption(formatOption())
    .addOption(outputOption())
    .addOption(reasonOption())
    .action(runExport);
}

async function runExport(options: SubscriberExportOptions): Promise<void> {
  const { format, output, state, reason } = options;
  const details = { format, state: state ?? null };
  await withContext(async (context) => {
    const access = { action: 'subscriber.export', subjectId: 'subscribers', reason, details };
    await auditAccess(context, access);
    await writeExport('subscribers', output, () =>
      formatLines(readSubscribers(context, state), COLUMNS, format),
    );
  });
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

function eraseCommand(): Command {
  return newCommand(
    'erase',
    'Delete the subscription of an address and its outreach, and suppress the address. Licenses keep their customer data: see latchkey customer erase.',
    [
      [
        'subscriber erase ada@example.com --reason "letter of 3 May"',
        'Answer a request for erasure (GDPR, article 17)',
      ],
    ],
  )
    .addArgument(addressArgument())
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(erase);
}

async function erase(email: string, options: EraseOptions): Promise<void> {
  await withContext(async (context) => {
    const actor = currentActor();
    const erased = await eraseSubscriber(context, { email, actor, reason: options.reason });
    printResult(options, erased, () =>
      erased.existed
        ? `Erased ${erased.id}. The address is suppressed.`
        : 'The address was not subscribed. It is suppressed.',
    );
  });
}
