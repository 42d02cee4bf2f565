import { Command } from 'commander';

import type { Context } from '#server/context.ts';
import { reinstateAndSend } from '#server/features/billing/reinstate-license.ts';
import {
  allowMoves,
  extendLicense,
  type Extension,
  type ManualChange,
  revokeLicense,
  suspendLicense,
} from '#server/features/licenses/change-license.ts';
import type { LicenseRecord } from '#server/features/licenses/queries/licenses.ts';

import { currentActor } from '../actor.ts';
import { usageError } from '../command-error.ts';
import { jsonOption, moment, reasonOption, wholeNumber, withExamples } from '../options.ts';
import { formatFields, type OutputOptions, printNote, printResult } from '../output.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

/** The options of every command that changes a license. */
interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

/** Changes the named license and prints what became of it. */
async function runChange(
  argument: string,
  options: ChangeOptions,
  change: (ctx: Context, change: ManualChange) => Promise<LicenseRecord>,
): Promise<void> {
  const keyOrId = await readLicenseName(argument);
  await withContext(async (ctx) => {
    const { reason } = options;
    const license = await change(ctx, { keyOrId, reason, actor: currentActor() });
    const viewed = viewLicense(license, ctx.clock.now());
    printResult(options, toLicenseJson(viewed), () => formatFields(toLicenseFields(viewed)));
  });
}

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

interface AllowMoveOptions extends ChangeOptions {
  readonly count: number;
}

export function licenseAllowMoveCommand(): Command {
  const command = new Command('allow-move')
    .description(
      'Allow a license one more machine than its limit of moves (409 move_limit_reached).',
    )
    .addArgument(licenseArgument())
    .option('--count <n>', 'how many machines more, each once', wholeNumber(1, 1_000), 1)
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(allowMove);
  return withExamples(command, [
    ['license allow-move LK-… --reason "laptop was stolen"', 'One more machine'],
    ['license allow-move LK-… --count 5 --reason "new classroom"', 'Five more'],
  ]);
}

async function allowMove(argument: string, options: AllowMoveOptions): Promise<void> {
  await runChange(argument, options, (ctx, change) => allowMoves(ctx, change, options.count));
}

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
