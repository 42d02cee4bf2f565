import { Command } from 'commander';
import { type Extension, extendLicense } from '#server/features/licenses/change-license.ts';
import { usageError } from '../command-error.ts';
import { licenseArgument } from './argument.ts';
import { type ChangeOptions, runChange } from './change.ts';
import { printNote } from '../output.ts';
import { jsonOption, moment, reasonOption, wholeNumber, withExamples } from '../option-values.ts';

interface ExtendOptions extends ChangeOptions {
  readonly days?: number;
  readonly until?: Extension;
}

export function licenseExtendCommand(): Command {
  const command = new Command('extend')
    .description('Move the end of a license.')
    .addArgument(licenseArgument())
    .option(
      '--days <n>',
      'days more, counted from its end or, when it is over, from now',
      wholeNumber(1, 36_500),
    )
    .option('--until <date>', 'its new end; "never" makes it perpetual', readUntil)
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(extend);
  return withExamples(command, [
    ['license extend LK-… --days 30 --reason "outage in May"', 'Thirty days more'],
    ['license extend LK-… --until 2028-01-01 --reason "renewed by invoice"', 'A new end'],
  ]);
}

async function extend(argument: string, options: ExtendOptions): Promise<void> {
  const extension = readExtension(options);
  await runChange(argument, options, async (ctx, change) => {
    const license = await extendLicense(ctx, change, extension);
    if ('days' in extension && license.expiresAt === null) {
      printNote('The license is perpetual and stays so; --until gives it an end.');
    }
    return license;
  });
}

/** Wrapped, because Commander takes a bare null for an option without a value. */
function readUntil(text: string): Extension {
  return { until: text === 'never' ? null : moment(text) };
}

function readExtension({ days, until }: ExtendOptions): Extension {
  if (days !== undefined && until === undefined) return { days };
  if (days === undefined && until !== undefined) return until;
  throw usageError('Say how long: either --days or --until.');
}
