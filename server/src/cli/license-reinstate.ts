import { Command } from 'commander';
import { reinstateLicense } from '#server/features/licenses/change-license.ts';
import { licenseArgument } from './license-argument.ts';
import { type ChangeOptions, runChange } from './license-change.ts';
import { jsonOption, reasonOption, withExamples } from './option-values.ts';

export function licenseReinstateCommand(): Command {
  const command = new Command('reinstate')
    .description('Let a suspended or revoked license work again.')
    .addArgument(licenseArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action((argument: string, options: ChangeOptions) =>
      runChange(argument, options, reinstateLicense),
    );
  return withExamples(command, [
    ['license reinstate LK-… --reason "chargeback withdrawn"', 'As if nothing had been'],
  ]);
}
