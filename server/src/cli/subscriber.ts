import { Argument, Command, Option } from 'commander';

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
  type Columns,
  type ExportOptions,
  formatAll,
  formatOption,
  writeExport,
} from './export-file.ts';
import {
  accessReasonOption,
  emailAddress,
  jsonOption,
  limitOption,
  reasonOption,
  withExamples,
} from './options.ts';
import { type Cell, formatFields, formatTable, type OutputOptions, printResult } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey subscriber …` */
export function subscriberCommand(): Command {
  return new Command('subscriber')
    .description('Those who asked for news.')
    .addCommand(subscriberListCommand())
    .addCommand(subscriberShowCommand())
    .addCommand(subscriberExportCommand())
    .addCommand(subscriberEraseCommand());
}

interface ListOptions extends OutputOptions {
  readonly state?: SubscriberState;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

/** Which subscribers are meant. */
function stateOption(): Option {
  return new Option('--state <state>', 'only those that stand so').choices(SUBSCRIBER_STATES);
}

function subscriberListCommand(): Command {
  const command = new Command('list')
    .description(
      'List newsletter subscribers, newest first. The audit log records each list, for it shows addresses.',
    )
    .addOption(stateOption())
    .addOption(limitOption(DEFAULT_LIMIT))
    .addOption(jsonOption())
    .action(list);
  return withExamples(command, [
    ['subscriber list', 'The newest ones'],
    ['subscriber list --state pending', 'Those who have not confirmed yet'],
  ]);
}

async function list(options: ListOptions): Promise<void> {
  await withContext(async (ctx) => {
    const details = { limit: options.limit, state: options.state ?? null };
    await auditAccess(ctx, { action: 'subscriber.list', subjectId: 'subscribers', details });
    const found: SubscriberFacts[] = [];
    for await (const subscriber of readSubscribers(ctx, options.state)) {
      found.push(subscriber);
      if (found.length === options.limit) break;
    }
    printResult(options, found.map(toSubscriberJson), () =>
      found.length === 0
        ? 'There is no such subscriber.'
        : formatTable(
            ['address', 'state', 'language', 'subscribed', 'confirmed'],
            found.map((subscriber) => [
              subscriber.email,
              stateOf(subscriber),
              subscriber.language,
              subscriber.firstSubscribedAt,
              subscriber.confirmedAt,
            ]),
          ),
    );
  });
}

/** Whom a command is about. */
export function addressArgument(): Argument {
  return new Argument('<address>', 'the e-mail address, in any spelling').argParser(emailAddress);
}

function subscriberShowCommand(): Command {
  const command = new Command('show')
    .description(
      'Show all that is held on one address: news, suppression, outreach, changes by hand.',
    )
    .addArgument(addressArgument())
    .addOption(jsonOption())
    .action(show);
  return withExamples(command, [
    ['subscriber show ada@example.com', 'Whether she gets news, and since when'],
    ['subscriber show ada@example.com --json', 'For whoever asks what you hold on her'],
  ]);
}

async function show(email: string, options: OutputOptions): Promise<void> {
  await withContext(async (ctx) => {
    const view = await showSubscriber(ctx, email);
    printResult(options, toJson(email, view), () => describe(email, view));
  });
}

function toJson(email: string, { id, subscriber, suppression, outreach, history }: AddressView) {
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

function describe(email: string, { id, subscriber, ...view }: AddressView): string {
  const { suppression, outreach, history } = view;
  const fields = formatFields([
    ['id', id],
    ['address', subscriber?.email ?? email],
    ...(subscriber === null
      ? [['state', 'not subscribed'] as const]
      : describeSubscription(subscriber)),
    ['no mail because', suppression?.reason ?? null],
    ['no mail since', suppression?.suppressedAt ?? null],
    ['outreach letters', outreach.length],
  ]);
  if (history.length === 0) return fields;
  const rows = history.map(({ occurredAt, actor, action, reason }) => [
    occurredAt,
    actor,
    action,
    reason,
  ]);
  return `${fields}\n\n${formatTable(['when', 'who', 'what', 'why'], rows)}`;
}

function describeSubscription(subscriber: SubscriberFacts): (readonly [string, Cell])[] {
  return [
    ['state', stateOf(subscriber)],
    ['first subscribed', subscriber.firstSubscribedAt],
    ['last subscribed', subscriber.subscribedAt],
    ['confirmed', subscriber.confirmedAt],
    ['opt-in', subscriber.optIn],
    ['language', subscriber.language],
    ['confirmation mail', subscriber.confirmationMailedAt],
    ['its problem', subscriber.confirmationProblem],
  ];
}

interface SubscriberExportOptions extends ExportOptions {
  readonly state?: SubscriberState;
  readonly reason?: string;
}

function subscriberExportCommand(): Command {
  const command = new Command('export')
    .description(
      'Write all newsletter subscribers, one per line, newest first. The audit log records each export.',
    )
    .addOption(stateOption())
    .addOption(formatOption())
    .option('--output <file>', 'a new file, instead of standard output')
    .addOption(accessReasonOption())
    .action(runExport);
  return withExamples(command, [
    [
      'subscriber export --state confirmed --output news.csv',
      'For a newsletter; formulas in addresses are defused',
    ],
    ['subscriber export --format jsonl', 'For programs, as a stream'],
  ]);
}

async function runExport(options: SubscriberExportOptions): Promise<void> {
  const { format, output, state, reason } = options;
  const details = { format, state: state ?? null };
  await withContext(async (ctx) => {
    const access = { action: 'subscriber.export', subjectId: 'subscribers', reason, details };
    await auditAccess(ctx, access);
    await writeExport('subscribers', output, () =>
      formatAll(readSubscribers(ctx, state), subscriberColumns, format),
    );
  });
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

function subscriberEraseCommand(): Command {
  const command = new Command('erase')
    .description(
      'Take away all that is held on who asked for news with an address and which letters it got, and never write to it again. What was bought stays with its license.',
    )
    .addArgument(addressArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(erase);
  return withExamples(command, [
    ['subscriber erase ada@example.com --reason "her letter of 3 May"', 'As the law gives her'],
  ]);
}

async function erase(email: string, options: EraseOptions): Promise<void> {
  await withContext(async (ctx) => {
    const actor = currentActor();
    const erased = await eraseSubscriber(ctx, { email, actor, reason: options.reason });
    printResult(options, erased, () =>
      erased.existed
        ? `${erased.id} is erased; the address gets no mail any more.`
        : 'The address was not subscribed; it gets no mail from now on.',
    );
  });
}

/** What is shown of a subscriber, in tables, JSON and exports alike. */
const subscriberColumns = {
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
} satisfies Columns<SubscriberFacts>;

/** A subscriber as programs are told. */
function toSubscriberJson(subscriber: SubscriberFacts) {
  const cells = Object.entries(subscriberColumns).map(([name, read]) => [name, read(subscriber)]);
  return Object.fromEntries(cells);
}
