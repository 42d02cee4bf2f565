/** `latchkey mail`: the e-mails that the service sends. */
import { writeFileSync } from 'node:fs';

import { licenseNotFound } from '#server/errors.ts';
import { loadCatalog } from '#server/config/catalog.ts';
import { readConfiguration } from '#server/config/load.ts';
import type { Context } from '#server/context.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { resendKeyEmails, type ResendRequest } from '#server/features/key-emails/requeue-emails.ts';
import {
  resendLicenseKey,
  type LicenseResend,
  type ResendOutcome,
} from '#server/features/key-emails/resend-license-key.ts';
import { LANGUAGES } from '@latchkey/contract';

import { chooseLanguage } from '#server/features/key-emails/texts.ts';
import {
  EXAMPLE_NAME,
  MAIL_TEMPLATES,
  renderExample,
} from '#server/features/mails/render-example.ts';
import { resolveLicenseId } from '#server/features/licenses/find-license.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import { countOf } from '#server/lib/text.ts';

import { currentActor } from './actor.ts';
import { command, commandGroup } from './command.ts';
import { failed, usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { reasonOption } from './options.ts';
import { printNote } from './output.ts';
import { anyText, choiceArgument, flag, option, optionalArgument } from './parameters.ts';
import { withContext } from './with-context.ts';

const previewCommand = command({
  name: 'preview',
  description: 'Print an e-mail with example data. Nothing is sent.',
  examples: {
    'mail preview key --locale de --out key.html': 'The e-mail with license keys, in German',
    'mail preview key --text': 'Its plain-text part',
    'mail preview personal --locale fr': 'An outreach template with the texts of your catalogue',
    'mail preview update_sellers --text --name ""': 'An outreach template without a name',
  },
  hasJson: false,
  parameters: [
    choiceArgument('<mail>', 'the e-mail, or an outreach template', MAIL_TEMPLATES),
    option('--locale <locale>', `language: ${LANGUAGES.join(', ')}`, anyText).default('en'),
    option('--name <name>', 'recipient of an outreach message, may be empty', anyText).default(
      EXAMPLE_NAME,
    ),
    flag('--text', 'print the plain-text part instead of the HTML part'),
    option('--out <file>', 'write to a file (default: standard output)', anyText),
  ],
  run({ mail: mailName, locale, name, text, out }) {
    const mail = renderExample(readSettings(), mailName, chooseLanguage(locale), name);
    const body = text ? `${mail.subject}\n\n${mail.text}` : mail.html;
    if (out === null) {
      commandProcess().stdout.write(body);
      return;
    }
    try {
      writeFileSync(out, body);
    } catch (error) {
      throw failed(`Cannot write ${out} (${messageOf(error)}).`, { cause: error });
    }
    printNote(`Wrote ${out}. Subject: ${mail.subject}`);
  },
});

function readSettings() {
  const { config, problems } = readConfiguration();
  if (problems.length > 0) throw new StartupError(problems);
  const catalog = loadCatalog(config.catalogPath);
  return { config, catalog: () => catalog };
}

const resendCommand = command({
  name: 'resend',
  description: 'Queue e-mails with license keys again. The running service sends them.',
  examples: {
    'mail resend txn_01hv8wptq8987qeep44cyrewp9': 'A buyer lost the e-mail of a purchase',
    'mail resend --license 0199a3c4-7b1e-7cc1-8d5e-2f6f0c1a9b3d':
      'The key of one license, bought or not',
    'mail resend --refused --reason "mail relay repaired"': 'Every e-mail that was refused',
  },
  parameters: [
    optionalArgument(
      '[transaction]',
      'transaction id of the payment provider, to resend all its keys',
      anyText,
    ),
    option('--license <license>', 'key or id of a license, to send its owner its key', anyText),
    flag('--refused', 'every e-mail that the mail relay refused permanently'),
    flag('--unconfirmed', 'every e-mail whose acceptance the mail relay did not confirm'),
    reasonOption,
  ],
  async run({ transaction, license, refused, unconfirmed, reason }) {
    const chosen: readonly (ResendRequest['which'] | { readonly license: string })[] = [
      ...(license === null ? [] : [{ license }]),
      ...(transaction === null ? [] : [{ transactionId: transaction }]),
      ...(refused ? ['refused' as const] : []),
      ...(unconfirmed ? ['unconfirmed' as const] : []),
    ];
    const [which] = chosen;
    if (which === undefined || chosen.length > 1) {
      throw usageError('Name either a transaction, --license, --refused or --unconfirmed.');
    }
    const change = { actor: currentActor(), reason };
    const queued = await withContext((context) =>
      typeof which === 'object' && 'license' in which
        ? resendKey(context, which.license, change)
        : resendKeyEmails(context, { which, ...change }),
    );
    if (queued === 0 && transaction !== null) {
      throw failed('No license belongs to this transaction, or its e-mail is being sent.');
    }
    return {
      json: { queued },
      text: `Queued ${countOf(queued, 'e-mail')}. The service sends those with an address and a valid license.`,
    };
  },
});

const REFUSALS: Readonly<Record<Exclude<ResendOutcome, 'queued'>, string>> = {
  not_valid: 'The license is not valid: reinstate or extend it first.',
  no_address: 'The license has no e-mail address: set one with latchkey license owner --email.',
  not_configured:
    'No mail is configured: set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, then restart the service.',
  sending: 'The e-mail of its purchase is being sent.',
};

async function resendKey(
  context: Context,
  keyOrId: string,
  change: Omit<LicenseResend, 'licenseId'>,
): Promise<number> {
  const licenseId = await resolveLicenseId(context, keyOrId);
  if (licenseId === null) throw licenseNotFound();
  const outcome = await resendLicenseKey(context, { licenseId, ...change });
  if (outcome !== 'queued') throw failed(REFUSALS[outcome]);
  return 1;
}

export const mailCommand = commandGroup(
  'mail',
  'Preview e-mails, and resend e-mails with license keys.',
  [previewCommand, resendCommand],
);
