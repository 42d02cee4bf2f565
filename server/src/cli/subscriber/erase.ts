import { Command } from 'commander';
import { eraseSubscriber } from '#server/features/subscribers/manual-changes.ts';
import { currentActor } from '../actor.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { addressArgument } from './show.ts';
import { withContext } from '../with-context.ts';

interface EraseOptions extends OutputOptions {
  readonly reason: string;
}

export function subscriberEraseCommand(): Command {
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
