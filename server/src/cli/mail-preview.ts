import { writeFileSync } from 'node:fs';

import { OUTREACH_TEMPLATES } from '@latchkey/contract';
import { Argument, Command, Option } from 'commander';

import { loadCatalog } from '#server/config/catalog.ts';
import { readConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { exampleKeyEmail } from '#server/features/billing/key-emails/example.ts';
import { writeKeyEmail } from '#server/features/billing/key-emails/key-email.ts';
import {
  chooseLanguage,
  KEY_EMAIL_LANGUAGES,
  type KeyEmailLanguage,
} from '#server/features/billing/key-emails/key-email-texts.ts';
import { exampleRecipient } from '#server/features/outreach/templates/example.ts';
import { readCommonFacts } from '#server/features/outreach/templates/letter-facts.ts';
import { writeLetter } from '#server/features/outreach/templates/write-letter.ts';
import { parseMailbox } from '#server/mail/parse-mailbox.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import { failed } from './command-error.ts';
import { withExamples } from './option-values.ts';
import { printNote } from './output.ts';

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
      new Argument('<mail>', 'the e-mail with keys, or a template of outreach').choices([
        'key',
        ...OUTREACH_TEMPLATES,
      ]),
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
  const mail =
    template === undefined
      ? writeKeyEmail(language, exampleKeyEmail)
      : writeExampleLetter(template, language, name);
  const body = text === true ? `${mail.subject}\n\n${mail.text}` : mail.html;
  if (out === undefined) {
    process.stdout.write(body);
    return;
  }
  try {
    writeFileSync(out, body);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw failed(`${out} cannot be written (${reason}).`, { cause: error });
  }
  printNote(`Written to ${out}; its subject is: ${mail.subject}`);
}

/** While no mail is configured, letters come from here. */
const EXAMPLE_SENDER = 'robin@example.com';

/** Said by the catalogue that is configured: what it says is what one wants to look at. */
function writeExampleLetter(
  template: (typeof OUTREACH_TEMPLATES)[number],
  language: KeyEmailLanguage,
  name: string,
): RenderedMail {
  const { config, problems } = readConfiguration();
  if (problems.length > 0) throw new StartupError(problems);
  const { outreach } = loadCatalog(config.catalogPath);
  const from = parseMailbox(config.mail.from ?? EXAMPLE_SENDER);
  return writeLetter(template, language, {
    ...readCommonFacts(outreach, language, from),
    name,
    unsubscribeUrl: `${config.http.publicUrl}${exampleRecipient.unsubscribePath}`,
  });
}
