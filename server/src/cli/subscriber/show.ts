import { Argument, Command } from 'commander';
import type { SubscriberFacts } from '#server/features/subscribers/facts.ts';
import { stateOf } from '#server/features/subscribers/rules/subscription.ts';
import { showSubscriber, type AddressView } from '#server/features/subscribers/view-subscribers.ts';
import { emailAddress, jsonOption, withExamples } from '../option-values.ts';
import {
  type Cell,
  formatFields,
  formatTable,
  type OutputOptions,
  printResult,
} from '../output.ts';
import { toSubscriberJson } from './view.ts';
import { withContext } from '../with-context.ts';

/** Whom a command is about. */
export function addressArgument(): Argument {
  return new Argument('<address>', 'the e-mail address, in any spelling').argParser(emailAddress);
}

export function subscriberShowCommand(): Command {
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
