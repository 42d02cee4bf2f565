/** `latchkey license rekey`. */
import { rekeyAndSend, type SentRekey } from '#server/features/key-emails/send-replaced-key.ts';
import { countOf, formatTimestamp } from '#server/lib/text.ts';

import { currentActor } from '../actor.ts';
import { command } from '../command.ts';
import { requiredReasonOption } from '../options.ts';
import { paint } from '../output.ts';
import { flag } from '../parameters.ts';
import { formatFields } from '../table.ts';
import { withContext } from '../with-context.ts';
import { licenseArgument, readLicenseName } from './argument.ts';
import { toLicenseFields, toLicenseJson, viewLicense } from './view.ts';

export const rekeyCommand = command({
  name: 'rekey',
  description:
    'Replace the key of a license, for example when it leaked. The old key is invalid at once. Machines keep their activations and receive the new key; offline machines continue until their entitlement expires.',
  examples: {
    'license rekey LK-… --reason "key published in a forum"': 'E-mail the new key',
    'license rekey - --drop-machines --no-mail --reason "resold" < key.txt':
      'Deactivate every machine, and hand over the new key yourself',
  },
  parameters: [
    licenseArgument,
    flag('--keep-machines', 'keep active machines active (default)').conflicts('dropMachines'),
    flag('--drop-machines', 'deactivate every machine; each must activate with the new key'),
    flag('--no-mail', 'do not e-mail the new key to the customer'),
    requiredReasonOption,
  ],
  async run({ license, dropMachines, mail: wantsMail, reason }) {
    const keyOrId = await readLicenseName(license);
    const keepMachines = !dropMachines;
    const request = { keyOrId, reason, actor: currentActor(), keepMachines, wantsMail };
    return withContext(async (context) => {
      const rekeyed = await rekeyAndSend(context, request);
      const now = context.clock.now();
      const { revealUntil } = rekeyed.license;
      return {
        json: toJson(rekeyed, keepMachines, now),
        text: toText(rekeyed, keepMachines, now),
        note:
          revealUntil === null || revealUntil <= now
            ? null
            : `The transaction check also returns the new key until ${formatTimestamp(revealUntil)}.`,
      };
    });
  },
});

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
