import { Command } from 'commander';

import { eraseMachine } from '#server/features/analytics/installs/erase.ts';

import { currentActor } from './actor.ts';
import { jsonOption, reasonOption, withExamples } from './options.ts';
import { type OutputOptions, printResult } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey machine …` */
export function machineCommand(): Command {
  return new Command('machine')
    .description('What is held about the use of one machine.')
    .addCommand(machineEraseCommand());
}

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

function machineEraseCommand(): Command {
  const command = new Command('erase')
    .description(
      'Delete the days on which a machine was used, for good. Reports follow within minutes; activations stay with their licenses.',
    )
    .argument('<machine_id>', 'as the application tells it with its heartbeats')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(erase);
  return withExamples(command, [
    ['machine erase 4C4C4544-0051 --reason "asked for on 3 May"', 'Its heartbeats of all days'],
  ]);
}

async function erase(id: string, options: EraseOptions): Promise<void> {
  await withContext(async (ctx) => {
    const days = await eraseMachine(ctx, { id, actor: currentActor(), reason: options.reason });
    printResult(options, { machine_id: id, erased_days: days }, () => describe(days));
  });
}

function describe(days: number): string {
  if (days === 0) return 'It was never used.';
  return days === 1 ? '1 day of its use is erased.' : `${days} days of its use are erased.`;
}
