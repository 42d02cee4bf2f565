/** Feature: the log of mails of all kinds, previews with example data, and the check of the mail relay, for operators. */
import { OUTREACH_TEMPLATES } from '@latchkey/contract';

import type { Catalog } from '#server/config/catalog.ts';
import type { Config } from '#server/config/config.ts';
import { parseMailbox } from '#server/mail/mailbox.ts';
import type { RenderedMail } from '#server/mail/render-mail.ts';

import type { Language } from '@latchkey/contract';
import { findBuyerPage } from '../key-emails/buyer-page.ts';
import { exampleGiftNote, writeGiftNote } from '../key-emails/write-gift-note.ts';
import {
  exampleKeyEmail,
  exampleReplacedKey,
  writeKeyEmail,
  writeReplacedKeyEmail,
} from '../key-emails/write-key-email.ts';
import { formatDateTime } from '#server/pages/format-date.ts';
import { renderCodeMail } from '../buyers/mails/code-mail.ts';
import { renderFreedMail } from '../buyers/mails/freed-mail.ts';
import { renderTemplate } from '../outreach/templates/render-template.ts';
import { exampleRecipient, readCommonFacts } from '../outreach/templates/template.ts';
import { renderConfirmationMail } from '../subscribers/confirmation-mail.ts';
import { nameSender } from '../suppressions/page-frame.ts';

/** Every mail that the service sends: those to owners of licenses, the confirmation, and the outreach templates. */
export const MAIL_TEMPLATES = [
  'key',
  'replaced_key',
  'gift_sent',
  'buyer_code',
  'machine_freed',
  'confirmation',
  ...OUTREACH_TEMPLATES,
] as const;

export type MailTemplate = (typeof MAIL_TEMPLATES)[number];

/** The settings that mails show. */
export interface ExampleSettings {
  readonly catalog: () => Pick<Catalog, 'outreach'>;
  readonly config: Pick<Config, 'http' | 'mail'>;
}

/** The recipient's name in previews, where the mail has one. */
export const EXAMPLE_NAME = exampleRecipient.name;

const EXAMPLE_ADDRESS = 'robin@example.com';

const EXAMPLE_TIME = new Date('2026-11-20T10:00:00.000Z');

/**
 * Renders a mail with example data. Nothing is sent.
 * @param name the recipient of an outreach message, may be empty
 */
export function renderExample(
  settings: ExampleSettings,
  template: MailTemplate,
  language: Language,
  name: string = EXAMPLE_NAME,
): RenderedMail {
  const buyerPage = findBuyerPage(settings.config);
  if (template === 'key') return writeKeyEmail(language, { ...exampleKeyEmail, buyerPage });
  if (template === 'replaced_key') {
    return writeReplacedKeyEmail(language, { ...exampleReplacedKey, buyerPage });
  }
  if (template === 'gift_sent') return writeGiftNote(language, exampleGiftNote);
  if (template === 'buyer_code') return renderExampleCode(settings, language);
  if (template === 'machine_freed') return renderExampleFreed(settings, language);
  const { publicUrl } = settings.config.http;
  const unsubscribeUrl = `${publicUrl}${exampleRecipient.unsubscribePath}`;
  if (template === 'confirmation') {
    const sender = nameSender(settings);
    const confirmUrl = `${publicUrl}/s/EXAMPLE`;
    const facts = { sender, email: EXAMPLE_ADDRESS, confirmUrl, unsubscribeUrl };
    return renderConfirmationMail(language, facts);
  }
  const from = parseMailbox(settings.config.mail.from ?? EXAMPLE_ADDRESS);
  const common = readCommonFacts(settings.catalog().outreach, language, from);
  return renderTemplate(template, language, { ...common, name, unsubscribeUrl });
}

const EXAMPLE_CODE = 'K7M 2QX';

function renderExampleCode(settings: ExampleSettings, language: Language): RenderedMail {
  const sender = nameSender(settings);
  return renderCodeMail(language, { sender, code: EXAMPLE_CODE, email: EXAMPLE_ADDRESS });
}

function renderExampleFreed(settings: ExampleSettings, language: Language): RenderedMail {
  const { from } = settings.config.mail;
  return renderFreedMail(language, {
    productName: 'Example Studio',
    sender: nameSender(settings),
    contact: from === null ? null : parseMailbox(from).address,
    machine: '4c4c4544-0044',
    freedAt: formatDateTime(language, EXAMPLE_TIME),
  });
}
