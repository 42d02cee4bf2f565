/** `latchkey mail`: the e-mails that the service sends. */
import { writeFileSync } from 'node:fs';

import { OUTREACH_TEMPLATES } from '@latchkey/contract';

import { loadCatalog } from '#server/config/catalog.ts';
import { readConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import {
  resendKeyEmails,
  type ResendOrder,
} from '#server/features/billing/key-emails/requeue-emails.ts';
import {
  chooseLanguage,
  KEY_EMAIL_LANGUAGES,
  type KeyEmailLanguage,
} from '#server/features/billing/key-emails/texts.ts';
import {
  exampleKeyEmail,
  exampleReplacedKey,
  writeKeyEmail,
  writeReplacedKeyEmail,
} from '#server/features/billing/key-emails/write-key-email.ts';
import { renderTemplate } from '#server/features/outreach/templates/render-template.ts';
import { exampleRecipient, readCommonFacts } from '#server/features/outreach/templates/template.ts';
import { renderConfirmationMail } from '#server/features/subscribers/confirmation-mail.ts';
import { nameSender } from '#server/features/suppressions/page-frame.ts';
import { messageOf } from '#server/lib/unknown-values.ts';
import { parseMailbox } from '#server/mail/mailbox.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { currentActor } from './actor.ts';
import { command, commandGroup } from './command.ts';
import { failed, usageError } from './command-error.ts';
import { commandProcess } from './command-process.ts';
import { reasonOption } from './options.ts';
import { countOf, printNote } from './output.ts';
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
    choiceArgument('<mail>', 'the e-mail, or an outreach template', [
      'key',
      'replaced_key',
      'confirmation',
      ...OUTREACH_TEMPLATES,
    ]),
    option('--locale <locale>', `language: ${KEY_EMAIL_LANGUAGES.join(', ')}`, anyText).default(
      'en',
    ),
    option('--name <name>', 'recipient of an outreach message, may be empty', anyText).default(
      exampleRecipient.name,
    ),
    flag('--text', 'print the plain-text part instead of the HTML part'),
    option('--out <file>', 'write to a file (default: standard output)', anyText),
  ],
  run({ mail: mailName, locale, name, text, out }) {
    const mail = renderExample(mailName, chooseLanguage(locale), name);
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

function renderExample(mailName: string, language: KeyEmailLanguage, name: string): RenderedMail {
  const template = OUTREACH_TEMPLATES.find((each) => each === mailName);
  if (template !== undefined) return renderOutreachMessage(template, language, name);
  if (mailName === 'replaced_key') return writeReplacedKeyEmail(language, exampleReplacedKey);
  if (mailName === 'confirmation') return renderConfirmation(language);
  return writeKeyEmail(language, exampleKeyEmail);
}

function renderConfirmation(language: KeyEmailLanguage): RenderedMail {
  const { config, catalog } = readSettings();
  const { publicUrl } = config.http;
  return renderConfirmationMail(language, {
    sender: nameSender({ config, catalog: () => catalog }),
    email: EXAMPLE_ADDRESS,
    confirmUrl: `${publicUrl}/s/EXAMPLE`,
    unsubscribeUrl: `${publicUrl}${exampleRecipient.unsubscribePath}`,
  });
}

const EXAMPLE_ADDRESS = 'robin@example.com';

function renderOutreachMessage(
  template: (typeof OUTREACH_TEMPLATES)[number],
  language: KeyEmailLanguage,
  name: string,
): RenderedMail {
  const { config, catalog } = readSettings();
  const from = parseMailbox(config.mail.from ?? EXAMPLE_ADDRESS);
  return renderTemplate(template, language, {
    ...readCommonFacts(catalog.outreach, language, from),
    name,
    unsubscribeUrl: `${config.http.publicUrl}${exampleRecipient.unsubscribePath}`,
  });
}

function readSettings() {
  const { config, problems } = readConfiguration();
  if (problems.length > 0) throw new StartupError(problems);
  return { config, catalog: loadCatalog(config.catalogPath) };
}

const resendCommand = command({
  name: 'resend',
  description: 'Queue e-mails with license keys again. The running service sends them.',
  examples: {
    'mail resend txn_01hv8wptq8987qeep44cyrewp9': 'A buyer lost the e-mail of a purchase',
    'mail resend --refused --reason "mail relay repaired"': 'Every e-mail that was refused',
  },
  parameters: [
    optionalArgument(
      '[transaction]',
      'transaction id of the payment provider, to resend all its keys',
      anyText,
    ),
    flag('--refused', 'every e-mail that the mail relay refused permanently'),
    flag('--unconfirmed', 'every e-mail whose acceptance the mail relay did not confirm'),
    reasonOption,
  ],
  async run({ transaction, refused, unconfirmed, reason }) {
    const chosen: readonly ResendOrder['which'][] = [
      ...(transaction === null ? [] : [{ transactionId: transaction }]),
      ...(refused ? ['refused' as const] : []),
      ...(unconfirmed ? ['unconfirmed' as const] : []),
    ];
    const [which] = chosen;
    if (which === undefined || chosen.length > 1) {
      throw usageError('Name either a transaction, --refused or --unconfirmed.');
    }
    const order = { which, actor: currentActor(), reason };
    const queued = await withContext((context) => resendKeyEmails(context, order));
    if (queued === 0 && transaction !== null) {
      throw failed('No license belongs to this transaction, or its e-mail is being sent.');
    }
    return {
      json: { queued },
      text: `Queued ${countOf(queued, 'e-mail')}. The service sends those with an address and a valid license.`,
    };
  },
});

export const mailCommand = commandGroup(
  'mail',
  'Preview e-mails, and resend e-mails with license keys.',
  [previewCommand, resendCommand],
);
