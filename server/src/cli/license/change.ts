/** `latchkey license extend`, `allow-move`, `suspend`, `reinstate` and `revoke`. */
import type { Command } from 'commander';

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
import { jsonOption, moment, newCommand, requiredReasonOption, wholeNumber } from '../options.ts';
import { type OutputOptions, printNote, printResult } from '../output.ts';
import { formatFields } from '../table.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

interface ChangeOptions extends OutputOptions {
  readonly reason: string;
}

interface ExtendOptions extends ChangeOptions {
  readonly days?: number;
  readonly until?: Extension;
}

export function licenseExtendCommand(): Command {
  const command = newCommand('extend', 'Change the expiry of a license.', [
    ['license extend LK-… --days 30 --reason "outage in May"', 'Thirty more days'],
    ['license extend LK-… --until 2028-01-01 --reason "renewed by invoice"', 'A new expiry'],
  ])
    .addArgument(licenseArgument())
    .option(
      '--days <n>',
      'days to add to the expiry, or to now if the license has expired',
      wholeNumber(1, 36_500),
    )
    .option('--until <time>', 'new expiry date or date-time in UTC, or "never"', readUntil);
  return addReason(command).action(extend);
}

async function extend(argument: string, options: ExtendOptions): Promise<void> {
  const extension = readExtension(options);
  await runChange(argument, options, async (context, change) => {
    const license = await extendLicense(context, change, extension);
    if ('days' in extension && license.expiresAt === null) {
      printNote('The license is perpetual and stays perpetual; --until sets an expiry.');
    }
    return license;
  });
}

/** Wrapped, because Commander treats null as an option without a value. */
function readUntil(text: string): Extension {
  return { until: text === 'never' ? null : moment(text) };
}

function readExtension({ days, until }: ExtendOptions): Extension {
  if (days !== undefined && until === undefined) return { days };
  if (days === undefined && until !== undefined) return until;
  throw usageError('Use either --days or --until.');
}

interface AllowMoveOptions extends ChangeOptions {
  readonly count: number;
}

export function licenseAllowMoveCommand(): Command {
  const command = newCommand(
    'allow-move',
    'Allow activations beyond the move limit of a license (409 move_limit_reached).',
    [
      ['license allow-move LK-… --reason "laptop was stolen"', 'One more machine'],
      ['license allow-move LK-… --count 5 --reason "new classroom"', 'Five more machines'],
    ],
  )
    .addArgument(licenseArgument())
    .option('--count <n>', 'number of additional moves', wholeNumber(1, 1_000), 1);
  return addReason(command).action((argument: string, options: AllowMoveOptions) =>
    runChange(argument, options, (context, change) => allowMoves(context, change, options.count)),
  );
}

export function licenseSuspendCommand(): Command {
  const command = newCommand('suspend', 'Suspend a license until it is reinstated.', [
    ['license suspend LK-… --reason "chargeback"', 'Until a dispute is settled'],
  ]);
  return addChange(command, suspendLicense);
}

export function licenseReinstateCommand(): Command {
  const command = newCommand(
    'reinstate',
    'Reinstate a license that was suspended, revoked or disputed. An e-mail with its key that was held back is sent.',
    [['license reinstate LK-… --reason "chargeback withdrawn"', 'After a dispute was settled']],
  );
  return addChange(command, reinstateAndSend);
}

export function licenseRevokeCommand(): Command {
  const command = newCommand('revoke', 'Revoke a license. It is invalid until it is reinstated.', [
    ['license revoke LK-… --reason "key published"', 'When a key leaked'],
  ]);
  return addChange(command, revokeLicense);
}

type Change = (context: Context, change: ManualChange) => Promise<LicenseRecord>;

function addChange(command: Command, change: Change): Command {
  return addReason(command.addArgument(licenseArgument())).action(
    (argument: string, options: ChangeOptions) => runChange(argument, options, change),
  );
}

function addReason(command: Command): Command {
  return command.addOption(requiredReasonOption()).addOption(jsonOption());
}

/** Changes the named license and prints it. */
async function runChange(argument: string, options: ChangeOptions, change: Change): Promise<void> {
  const keyOrId = await readLicenseName(argument);
  await withContext(async (context) => {
    const { reason } = options;
    const license = await change(context, { keyOrId, reason, actor: currentActor() });
    const viewed = viewLicense(license, context.clock.now());
    printResult(options, toLicenseJson(viewed), () => formatFields(toLicenseFields(viewed)));
  });
}
