/** `latchkey machine`: the usage of one machine. */
import { Command } from 'commander';

import { eraseMachine } from '#server/features/analytics/installs/erase.ts';

import { currentActor } from './actor.ts';
import { jsonOption, newCommand, requiredReasonOption } from './options.ts';
import { countOf, type OutputOptions, printResult } from './output.ts';
import { withContext } from './with-context.ts';

export function machineCommand(): Command {
  return new Command('machine')
    .description('Erase the usage data of one machine.')
    .addCommand(eraseCommand());
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

function eraseCommand(): Command {
  return newCommand(
    'erase',
    'Delete the usage days of a machine permanently. Reports follow within minutes; activations stay with their licenses.',
    [
      [
        'machine erase 4C4C4544-0051 --reason "request of 3 May"',
        'Delete the heartbeats of all days',
      ],
    ],
  )
    .argument('<machine_id>', 'id of the machine in the heartbeats of the application')
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(erase);
}

async function erase(id: string, options: EraseOptions): Promise<void> {
  await withContext(async (context) => {
    const days = await eraseMachine(context, { id, actor: currentActor(), reason: options.reason });
    printResult(
      options,
      { machine_id: id, erased_days: days },
      () => `Erased ${countOf(days, 'day')} of usage.`,
    );
  });
}
