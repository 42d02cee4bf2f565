import { writeFileSync } from 'node:fs';

import { OUTREACH_TEMPLATES } from '@latchkey/contract';
import { Argument, Command, Option } from 'commander';

import { loadCatalog } from '#server/config/catalog.ts';
import { readConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import {
  resendKeyEmails,
  type ResendOrder,
} from '#server/features/billing/key-emails/resend-key-emails.ts';
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
import { writeLetter } from '#server/features/outreach/templates/render-template.ts';
import { exampleRecipient, readCommonFacts } from '#server/features/outreach/templates/template.ts';
import { renderConfirmationMail } from '#server/features/subscribers/confirmation-mail.ts';
import { nameSender } from '#server/features/suppressions/page-frame.ts';
import { messageOf } from '#server/lib/error-message.ts';
import { parseMailbox } from '#server/mail/mailbox.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { commandProcess } from './command-process.ts';
import { currentActor } from './actor.ts';
import { failed, usageError } from './command-error.ts';
import { jsonOption, shortText, withExamples } from './options.ts';
import { type OutputOptions, printNote, printResult } from './output.ts';
import { withContext } from './with-context.ts';

/** `latchkey mail …` */
export function mailCommand(): Command {
  return new Command('mail')
    .description('The e-mails that the service sends.')
    .addCommand(mailPreviewCommand())
    .addCommand(mailResendCommand());
}

interface PreviewOptions {
  readonly locale: string;
  readonly text?: boolean;
  readonly out?: string;
  readonly name: string;
}

function mailPreviewCommand(): Command {
  const command = new Command('preview')
    .description('Show an e-mail with made-up facts, as it would be sent; nothing is sent.')
    .addArgument(
      new Argument(
        '<mail>',
        'the e-mail with keys, the one with a replaced key, the one that asks subscribers to confirm, or a template of outreach',
      ).choices(['key', 'replaced_key', 'confirmation', ...OUTREACH_TEMPLATES]),
    )
    .option('--locale <locale>', `the reader's language (${KEY_EMAIL_LANGUAGES.join(', ')})`, 'en')
    .option('--name <name>', 'who an outreach letter is for; empty: nobody', exampleRecipient.name)
    .addOption(new Option('--text', 'the plain text instead of the HTML'))
    .option('--out <file>', 'where to write it; default: standard output')
    .action(preview);
  return withExamples(command, [
    ['mail preview key --locale de --out key.html', 'The e-mail with license keys, in German'],
    ['mail preview key --text', 'What clients without HTML show'],
    ['mail preview personal --locale fr', 'An outreach letter with what your catalogue says'],
    ['mail preview update_sellers --text --name ""', 'Another one, to somebody without a name'],
  ]);
}

function preview(mailName: string, { locale, text, out, name }: PreviewOptions): void {
  const language = chooseLanguage(locale);
  const template = OUTREACH_TEMPLATES.find((each) => each === mailName);
  const mail = writeExample(mailName, template, language, name);
  const body = text === true ? `${mail.subject}\n\n${mail.text}` : mail.html;
  if (out === undefined) {
    commandProcess().stdout.write(body);
    return;
  }
  try {
    writeFileSync(out, body);
  } catch (error) {
    throw failed(`${out} cannot be written (${messageOf(error)}).`, { cause: error });
  }
  printNote(`Written to ${out}; its subject is: ${mail.subject}`);
}

function writeExample(
  mailName: string,
  template: (typeof OUTREACH_TEMPLATES)[number] | undefined,
  language: KeyEmailLanguage,
  name: string,
): RenderedMail {
  if (template !== undefined) return writeExampleLetter(template, language, name);
  if (mailName === 'replaced_key') return writeReplacedKeyEmail(language, exampleReplacedKey);
  if (mailName === 'confirmation') return writeExampleConfirmation(language);
  return writeKeyEmail(language, exampleKeyEmail);
}

function writeExampleConfirmation(language: KeyEmailLanguage): RenderedMail {
  const { config, catalog } = readSettings();
  const { publicUrl } = config.http;
  return renderConfirmationMail(language, {
    sender: nameSender({ config, catalog: () => catalog }),
    email: 'robin@example.com',
    confirmUrl: `${publicUrl}/s/EXAMPLE`,
    unsubscribeUrl: `${publicUrl}${exampleRecipient.unsubscribePath}`,
  });
}

/** The sender of letters while no mail is configured. */
const EXAMPLE_SENDER = 'robin@example.com';

/** Uses the configured catalogue, since the point is to see what it makes of a letter. */
function writeExampleLetter(
  template: (typeof OUTREACH_TEMPLATES)[number],
  language: KeyEmailLanguage,
  name: string,
): RenderedMail {
  const { config, catalog } = readSettings();
  const { outreach } = catalog;
  const from = parseMailbox(config.mail.from ?? EXAMPLE_SENDER);
  return writeLetter(template, language, {
    ...readCommonFacts(outreach, language, from),
    name,
    unsubscribeUrl: `${config.http.publicUrl}${exampleRecipient.unsubscribePath}`,
  });
}

function readSettings() {
  const { config, problems } = readConfiguration();
  if (problems.length > 0) throw new StartupError(problems);
  return { config, catalog: loadCatalog(config.catalogPath) };
}

interface ResendOptions extends OutputOptions {
  readonly refused?: boolean;
  readonly unconfirmed?: boolean;
  readonly reason?: string;
}

function mailResendCommand(): Command {
  const command = new Command('resend')
    .description('Have e-mails with license keys sent again, by the service that runs.')
    .argument('[transaction]', "the payment provider's id of the purchase; all its keys are sent")
    .option('--refused', 'all that the mail relay refused for good')
    .option('--unconfirmed', 'all of which the relay did not say whether it took them')
    .option('--reason <text>', 'why, for the audit log', shortText)
    .addOption(jsonOption())
    .action(resend);
  return withExamples(command, [
    ['mail resend txn_01hv8wptq8987qeep44cyrewp9', 'One purchase: the buyer has lost the e-mail'],
    ['mail resend --refused --reason "the relay trusts us again"', 'All that were refused'],
  ]);
}

async function resend(transactionId: string | undefined, options: ResendOptions): Promise<void> {
  const which = readWhich(transactionId, options);
  await withContext(async (ctx) => {
    const order = { which, actor: currentActor(), reason: options.reason ?? null };
    const queued = await resendKeyEmails(ctx, order);
    if (queued === 0 && typeof which !== 'string') {
      throw failed(
        'No license was bought by such a transaction, or its e-mail is just being sent.',
      );
    }
    printResult(options, { queued }, () => describe(queued));
  });
}

function readWhich(
  transactionId: string | undefined,
  { refused, unconfirmed }: ResendOptions,
): ResendOrder['which'] {
  const chosen = [
    ...(transactionId === undefined ? [] : [{ transactionId }]),
    ...(refused === true ? ['refused' as const] : []),
    ...(unconfirmed === true ? ['unconfirmed' as const] : []),
  ];
  const [which] = chosen;
  if (which === undefined || chosen.length > 1) {
    throw usageError('Say which: the id of a transaction, --refused or --unconfirmed.');
  }
  return which;
}

function describe(queued: number): string {
  if (queued === 0) return 'There is none.';
  const mails = queued === 1 ? '1 e-mail is' : `${queued} e-mails are`;
  return `${mails} queued: the service sends what has an address and a license in force.`;
}
