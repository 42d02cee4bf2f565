import { Command } from 'commander';
import { reinstateAndSend } from '#server/features/billing/reinstate-license.ts';
import { licenseArgument } from './argument.ts';
import { type ChangeOptions, runChange } from './change.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';

export function licenseReinstateCommand(): Command {
  const command = new Command('reinstate')
    .description(
      'Let a suspended or revoked license work again, also one whose payment is in dispute; a key that was not e-mailed meanwhile is.',
    )
    .addArgument(licenseArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action((argument: string, options: ChangeOptions) =>
      runChange(argument, options, reinstateAndSend),
    );
  return withExamples(command, [
    ['license reinstate LK-… --reason "chargeback withdrawn"', 'As if nothing had been'],
  ]);
}
