import { Command } from 'commander';
import { liftByHand, suppressByHand } from '#server/features/subscribers/manual-changes.ts';
import { currentActor } from '../actor.ts';
import { failed } from '../command-error.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, printResult } from '../output.ts';
import { addressArgument } from '../subscriber/show.ts';
import { withContext } from '../with-context.ts';

interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

export function suppressionAddCommand(): Command {
  const command = new Command('add')
    .description('Keep newsletter and outreach from an address. What is bought is still mailed.')
    .addArgument(addressArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(add);
  return withExamples(command, [
    ['suppression add ada@example.com --reason "asked by phone"', 'For whoever wants no mail'],
  ]);
}

async function add(email: string, options: ChangeOptions): Promise<void> {
  await withContext(async (ctx) => {
    await suppressByHand(ctx, { email, actor: currentActor(), reason: options.reason });
    printResult(options, { suppressed: true }, () => 'The address gets no mail any more.');
  });
}

export function suppressionRemoveCommand(): Command {
  const command = new Command('remove')
    .description('Let an address have mail again, whatever kept it from it.')
    .addArgument(addressArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(remove);
  return withExamples(command, [
    ['suppression remove ada@example.com --reason "asked for it"', 'Only when its owner asks'],
  ]);
}

async function remove(email: string, options: ChangeOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { reason } = options;
    const lifted = await liftByHand(ctx, { email, actor: currentActor(), reason });
    if (!lifted) throw failed('Nothing keeps mail from this address.');
    printResult(options, { suppressed: false }, () => 'The address may get mail again.');
  });
}
