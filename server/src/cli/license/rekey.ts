import { Command, Option } from 'commander';

import {
  rekeyAndSend,
  type SentRekey,
} from '#server/features/billing/key-emails/send-replaced-key.ts';

import { currentActor } from '../actor.ts';
import { jsonOption, reasonOption, withExamples } from '../options.ts';
import {
  formatFields,
  formatMoment,
  type OutputOptions,
  paint,
  printNote,
  printResult,
} from '../output.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

interface RekeyOptions extends OutputOptions {
  readonly reason: string;
  readonly dropMachines?: boolean;
  readonly mail: boolean;
}

export function licenseRekeyCommand(): Command {
  const command = new Command('rekey')
    .summary('Replace the key of a license, for instance when it leaked.')
    .description(
      `Replace the key of a license, for instance when it leaked. The old key is unknown at once. Machines keep their
activations, and go on with the new key; what runs offline goes on until its entitlement expires.`,
    )
    .addArgument(licenseArgument())
    .addOption(
      new Option('--keep-machines', 'leave active machines active (default)').conflicts(
        'dropMachines',
      ),
    )
    .option('--drop-machines', 'deactivate all machines; each has to activate with the new key')
    .option('--no-mail', 'do not e-mail the new key to the customer')
    .addOption(reasonOption())
    .addOption(jsonOption())
    .action(rekey);
  return withExamples(command, [
    ['license rekey LK-… --reason "key published in a forum"', 'The customer gets the new key'],
    [
      'license rekey - --drop-machines --no-mail --reason "sold on" < key.txt',
      'Every machine starts anew, and you pass the key on yourself',
    ],
  ]);
}

async function rekey(argument: string, options: RekeyOptions): Promise<void> {
  const keyOrId = await readLicenseName(argument);
  const { dropMachines = false, mail: wantsMail, reason } = options;
  const keepMachines = !dropMachines;
  await withContext(async (ctx) => {
    const order = { keyOrId, reason, actor: currentActor(), keepMachines, wantsMail };
    const rekeyed = await rekeyAndSend(ctx, order);
    const now = ctx.clock.now();
    printResult(options, toJson(rekeyed, keepMachines, now), () =>
      toText(rekeyed, keepMachines, now),
    );
    if (rekeyed.license.revealUntil !== null && rekeyed.license.revealUntil > now) {
      const until = formatMoment(rekeyed.license.revealUntil);
      printNote(`Until ${until}, the check of its checkout shows the new key too.`);
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

const MAIL_SENTENCES = {
  queued: 'is sent to the customer',
  not_wanted: 'is not sent',
  not_configured: 'is not sent: no mail is configured, so give the key to the customer yourself',
  no_address: 'is not sent: no address is known, so give the key to the customer yourself',
} as const satisfies Record<SentRekey['mail'], string>;

function toText(rekeyed: SentRekey, keepMachines: boolean, now: Date): string {
  const fields = toLicenseFields(viewLicense(rekeyed.license, now));
  return `${paint('bold', rekeyed.licenseKey)}

${formatFields([
  ...fields.filter(([name]) => name !== 'key'),
  [keepMachines ? 'kept' : 'dropped', `${rekeyed.machines} active machines`],
  ['e-mail', MAIL_SENTENCES[rekeyed.mail]],
])}`;
}
