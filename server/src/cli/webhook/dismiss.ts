import { Command } from 'commander';

import { dismissEvents } from '#server/features/billing/dismiss-events.ts';

import { currentActor } from '../actor.ts';
import { failed, usageError } from '../command-error.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { type EventOptions, eventOptions, toFilter } from './options.ts';
import { withContext } from '../with-context.ts';

interface DismissOptions extends OutputOptions, EventOptions {
  readonly reason: string;
}

export function webhookDismissCommand(): Command {
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
