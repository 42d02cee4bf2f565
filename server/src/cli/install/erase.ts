import { Command } from 'commander';
import { eraseInstall } from '#server/features/analytics/installs/erase.ts';
import { currentActor } from '../actor.ts';
import { installArgument } from './argument.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { withProgress } from '../progress.ts';
import { withContext } from '../with-context.ts';

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

export function installEraseCommand(): Command {
  const command = new Command('erase')
    .description(
      'Delete all events of an install, for good. Reports follow within minutes; activations stay with their licenses.',
    )
    .addArgument(installArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(erase);
  return withExamples(command, [
    [
      'install erase 6f1c2b9e-3a7d-4c55-9e0b-0d3f1a2b4c5d --reason "asked for on 3 May"',
      'Interrupted, it is simply run again',
    ],
  ]);
}

async function erase(id: string, options: EraseOptions): Promise<void> {
  await withContext(async (ctx) => {
    const erasure = { id, actor: currentActor(), reason: options.reason };
    const events = await withProgress('days', (report) => eraseInstall(ctx, erasure, report));
    printResult(options, { install_id: id, erased_events: events }, () => describe(events));
  });
}

function describe(events: number): string {
  if (events === 0) return 'There were no events of it.';
  return events === 1 ? '1 event is erased.' : `${events} events are erased.`;
}
