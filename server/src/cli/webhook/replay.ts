import { Command } from 'commander';

import { replayEvents, type ReplayOutcome } from '#server/features/billing/replay-events.ts';

import { currentActor } from '../actor.ts';
import { failed, usageError } from '../command-error.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatTable, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { type EventOptions, eventOptions, toFilter } from './options.ts';
import { withContext } from '../with-context.ts';

interface ReplayOptions extends OutputOptions, EventOptions {
  readonly reason: string;
}

export function webhookReplayCommand(): Command {
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
    printResult(options, outcomes.map(toJson), () => describe(outcomes));
    const isAmiss = outcomes.some(({ status }) => NOT_APPLIED.has(status));
    if (isAmiss) process.exitCode = 1;
  });
}

const NOT_APPLIED: ReadonlySet<string> = new Set(['failed', 'deferred', 'removed']);

function toJson({ eventId, provider, type, status, message }: ReplayOutcome) {
  return { event_id: eventId, provider, type, status, message };
}

function describe(outcomes: readonly ReplayOutcome[]): string {
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
