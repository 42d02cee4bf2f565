import { Command, Option } from 'commander';
import type { SubscriberFacts } from '#server/features/subscribers/facts.ts';
import { readSubscribers } from '#server/features/subscribers/view-subscribers.ts';
import {
  stateOf,
  SUBSCRIBER_STATES,
  type SubscriberState,
} from '#server/features/subscribers/rules/subscription.ts';
import { auditAccess } from '../audit-access.ts';
import { jsonOption, limitOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { toSubscriberJson } from './view.ts';
import { withContext } from '../with-context.ts';

interface ListOptions extends OutputOptions {
  readonly state?: SubscriberState;
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

/** Which subscribers are meant. */
export function stateOption(): Option {
  return new Option('--state <state>', 'only those that stand so').choices(SUBSCRIBER_STATES);
}

export function subscriberListCommand(): Command {
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
