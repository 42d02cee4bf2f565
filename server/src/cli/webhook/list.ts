import { Command } from 'commander';

import { listNewestEvents, type ListedEvent } from '#server/features/billing/queries/event-list.ts';

import { jsonOption, limitOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printNote, printResult } from '../output.ts';
import { type EventOptions, eventOptions, toFilter } from './options.ts';
import { withContext } from '../with-context.ts';

interface ListOptions extends OutputOptions, EventOptions {
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

export function webhookListCommand(): Command {
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
    printResult(options, events.map(toJson), () =>
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
function toJson(event: ListedEvent) {
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
