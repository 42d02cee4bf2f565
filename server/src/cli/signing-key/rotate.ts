import { Command } from 'commander';
import { rotateSigningKey } from '#server/features/entitlements/rotate-signing-key.ts';
import { currentActor } from '../actor.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';
import { type OutputOptions, formatMoment, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';

interface RotateOptions extends OutputOptions {
  readonly reason: string;
  readonly immediately?: boolean;
}

export function signingKeyRotateCommand(): Command {
  const command = new Command('rotate')
    .description(
      'Make a new key that signs entitlements. It is published at once and signs a little later, so that every client can know it; older keys stay published until their last token is over.',
    )
    .option('--immediately', 'sign with it at once: for a key that leaked')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(rotate);
  return withExamples(command, [
    ['signing-key rotate --reason "yearly"', 'As a routine'],
    ['signing-key rotate --immediately --reason "backup stolen"', 'In an emergency'],
  ]);
}

async function rotate(options: RotateOptions): Promise<void> {
  await withContext(async (ctx) => {
    const { kid, activeFrom } = await rotateSigningKey(
      ctx,
      { immediately: options.immediately === true },
      { actor: currentActor(), reason: options.reason },
    );
    printResult(
      options,
      { kid, active_from: activeFrom },
      () => `${kid} signs from ${formatMoment(activeFrom)}.`,
    );
  });
}
