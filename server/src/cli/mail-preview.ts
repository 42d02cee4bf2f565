import { writeFileSync } from 'node:fs';

import { Argument, Command, Option } from 'commander';

import { exampleKeyEmail } from '#server/features/billing/key-emails/example.ts';
import { writeKeyEmail } from '#server/features/billing/key-emails/key-email.ts';
import {
  chooseLanguage,
  KEY_EMAIL_LANGUAGES,
} from '#server/features/billing/key-emails/key-email-texts.ts';

import { failed } from './command-error.ts';
import { withExamples } from './option-values.ts';
import { printNote } from './output.ts';

interface PreviewOptions {
  readonly locale: string;
  readonly text?: boolean;
  readonly out?: string;
}

export function mailPreviewCommand(): Command {
  const command = new Command('preview')
    .description('Show an e-mail with made-up facts, as it would be sent; nothing is sent.')
    .addArgument(new Argument('<mail>', 'which e-mail').choices(['key']))
    .option(
      '--locale <locale>',
      `the customer's language (${KEY_EMAIL_LANGUAGES.join(', ')})`,
      'en',
    )
    .addOption(new Option('--text', 'the plain text instead of the HTML'))
    .option('--out <file>', 'where to write it; default: standard output')
    .action(preview);
  return withExamples(command, [
    ['mail preview key --locale de --out key.html', 'The e-mail with license keys, in German'],
    ['mail preview key --text', 'What clients without HTML show'],
  ]);
}

function preview(_mail: string, { locale, text, out }: PreviewOptions): void {
  const mail = writeKeyEmail(chooseLanguage(locale), exampleKeyEmail);
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
