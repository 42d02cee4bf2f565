import { Command } from 'commander';
import { revokeLicense } from '#server/features/licenses/change-license.ts';
import { licenseArgument } from './argument.ts';
import { type ChangeOptions, runChange } from './change.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';

export function licenseRevokeCommand(): Command {
  const command = new Command('revoke')
    .description('End a license. It works nowhere until somebody reinstates it.')
    .addArgument(licenseArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action((argument: string, options: ChangeOptions) =>
      runChange(argument, options, revokeLicense),
    );
  return withExamples(command, [
    ['license revoke LK-… --reason "key published"', 'For a key that leaked'],
  ]);
}
