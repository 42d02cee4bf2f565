import { writeFileSync } from 'node:fs';

import { OUTREACH_TEMPLATES } from '@latchkey/contract';
import { Argument, Command, Option } from 'commander';

import { loadCatalog } from '#server/config/catalog.ts';
import { readConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import {
  exampleKeyEmail,
  exampleReplacedKey,
  writeKeyEmail,
  writeReplacedKeyEmail,
} from '#server/features/billing/key-emails/write-key-email.ts';
import {
  chooseLanguage,
  KEY_EMAIL_LANGUAGES,
  type KeyEmailLanguage,
} from '#server/features/billing/key-emails/texts.ts';
import { writeLetter } from '#server/features/outreach/templates/render-template.ts';
import { exampleRecipient, readCommonFacts } from '#server/features/outreach/templates/template.ts';
import { writeConfirmationMail } from '#server/features/subscribers/confirmation-mail.ts';
import { nameSender } from '#server/features/suppressions/page-frame.ts';
import { messageOf } from '#server/lib/error-message.ts';
import { parseMailbox } from '#server/mail/mailbox.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { failed } from '../command-error.ts';
import { withExamples } from '../option-values.ts';
import { printNote } from '../output.ts';

interface PreviewOptions {
  readonly locale: string;
  readonly text?: boolean;
  readonly out?: string;
  readonly name: string;
}

export function mailPreviewCommand(): Command {
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
    process.stdout.write(body);
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
  return writeConfirmationMail(language, {
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
