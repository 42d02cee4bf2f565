/** `latchkey license rekey`. */
import { type Command, Option } from 'commander';

import {
  rekeyAndSend,
  type SentRekey,
} from '#server/features/billing/key-emails/send-replaced-key.ts';

import { currentActor } from '../actor.ts';
import { jsonOption, newCommand, requiredReasonOption } from '../options.ts';
import { countOf, type OutputOptions, paint, printNote, printResult } from '../output.ts';
import { formatFields, formatMoment } from '../table.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

interface RekeyOptions extends OutputOptions {
  readonly reason: string;
  readonly dropMachines?: boolean;
  readonly mail: boolean;
}

export function licenseRekeyCommand(): Command {
  return newCommand(
    'rekey',
    'Replace the key of a license, for example when it leaked. The old key is invalid at once. Machines keep their activations and receive the new key; offline machines continue until their entitlement expires.',
    [
      ['license rekey LK-… --reason "key published in a forum"', 'E-mail the new key'],
      [
        'license rekey - --drop-machines --no-mail --reason "resold" < key.txt',
        'Deactivate every machine, and hand over the new key yourself',
      ],
    ],
  )
    .addArgument(licenseArgument())
    .addOption(
      new Option('--keep-machines', 'keep active machines active (default)').conflicts(
        'dropMachines',
      ),
    )
    .option('--drop-machines', 'deactivate every machine; each must activate with the new key')
    .option('--no-mail', 'do not e-mail the new key to the customer')
    .addOption(requiredReasonOption())
    .addOption(jsonOption())
    .action(rekey);
}

async function rekey(argument: string, options: RekeyOptions): Promise<void> {
  const keyOrId = await readLicenseName(argument);
  const { dropMachines = false, mail: wantsMail, reason } = options;
  const keepMachines = !dropMachines;
  await withContext(async (context) => {
    const order = { keyOrId, reason, actor: currentActor(), keepMachines, wantsMail };
    const rekeyed = await rekeyAndSend(context, order);
    const now = context.clock.now();
    printResult(options, toJson(rekeyed, keepMachines, now), () =>
      toText(rekeyed, keepMachines, now),
    );
    if (rekeyed.license.revealUntil !== null && rekeyed.license.revealUntil > now) {
      const until = formatMoment(rekeyed.license.revealUntil);
      printNote(`The transaction check also returns the new key until ${until}.`);
    }
  });
}

function toJson(rekeyed: SentRekey, keepMachines: boolean, now: Date) {
  return {
    license_key: rekeyed.licenseKey,
    ...toLicenseJson(viewLicense(rekeyed.license, now)),
    machines_kept: keepMachines ? rekeyed.machines : 0,
    machines_dropped: keepMachines ? 0 : rekeyed.machines,
    mail: rekeyed.mail,
  };
}

const MAIL_OUTCOMES = {
  queued: 'queued for the customer',
  not_wanted: 'not sent (--no-mail)',
  not_configured: 'not sent, since mail is not configured: send the key to the customer yourself',
  no_address: 'not sent, since the address is unknown: send the key to the customer yourself',
} as const satisfies Record<SentRekey['mail'], string>;

function toText(rekeyed: SentRekey, keepMachines: boolean, now: Date): string {
  const fields = formatFields([
    ...toLicenseFields(viewLicense(rekeyed.license, now)),
    [keepMachines ? 'kept' : 'deactivated', countOf(rekeyed.machines, 'active machine')],
    ['e-mail', MAIL_OUTCOMES[rekeyed.mail]],
  ]);
  return `${paint('bold', rekeyed.licenseKey)}\n\n${fields}`;
}
