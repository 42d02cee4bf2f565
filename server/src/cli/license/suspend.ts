import { Command } from 'commander';
import { suspendLicense } from '#server/features/licenses/change-license.ts';
import { licenseArgument } from './argument.ts';
import { type ChangeOptions, runChange } from './change.ts';
import { jsonOption, reasonOption, withExamples } from '../option-values.ts';

export function licenseSuspendCommand(): Command {
  const command = new Command('suspend')
    .description('Stop a license from working until it is reinstated.')
    .addArgument(licenseArgument())
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action((argument: string, options: ChangeOptions) =>
      runChange(argument, options, suspendLicense),
    );
  return withExamples(command, [
    ['license suspend LK-… --reason "chargeback"', 'Until the matter is settled'],
  ]);
}
