import type { MailBlock } from '#server/mail/mail-content.ts';
import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';

import { keyEmailTexts, type KeyEmailLanguage } from './key-email-texts.ts';

/** What an e-mail with keys is made of. */
export interface KeyEmailFacts {
  /** As the provider gave it; null when it gave none. */
  readonly customerName: string | null;
  /** Of all licenses of the transaction, in the order of its lines; at least one. */
  readonly keys: readonly EmailedKey[];
  /** The provider's id of the transaction, for questions to the vendor. */
  readonly transactionId: string;
}

/** One key of the e-mail. */
export interface EmailedKey {
  readonly productName: string;
  readonly licenseKey: string;
  readonly maxActivations: number;
}

/** Writes the e-mail that brings a buyer all keys of a transaction. */
export function writeKeyEmail(language: KeyEmailLanguage, facts: KeyEmailFacts): RenderedMail {
  const texts = keyEmailTexts[language];
  const { keys, transactionId } = facts;
  const products = [...new Set(keys.map(({ productName }) => productName))];
  const subject = texts.subject(keys.length, products.length === 1 ? (products[0] ?? null) : null);
  const greeting = texts.greeting(greetable(facts.customerName));
  const thanks = texts.thanks(keys.length);
  const blocks: MailBlock[] = [
    { kind: 'title', text: subject },
    { kind: 'paragraph', text: greeting },
    { kind: 'paragraph', text: thanks },
    ...keys.map((key): MailBlock => ({
      kind: 'code',
      label: key.productName,
      code: key.licenseKey,
      note: texts.machines(key.maxActivations),
    })),
    { kind: 'heading', text: texts.howTo },
    { kind: 'steps', items: texts.steps },
    { kind: 'paragraph', text: texts.moving },
  ];
  return renderMail({
    language,
    subject,
    preview: `${greeting} ${thanks}`,
    blocks,
    footer: [texts.keep, texts.order(transactionId)],
  });
}

const MAX_NAME_CHARACTERS = 60;

/** Whoever buys chooses the name: one that carries an address or a link is not repeated in the vendor's name. */
export function greetable(name: string | null): string | null {
  const trimmed = name?.replaceAll(/\s+/gu, ' ').trim() ?? '';
  const plain = /^[\p{L}\p{M}\p{N} .'’·,-]+$/u.test(trimmed) && !/\.\p{L}{2,}/u.test(trimmed);
  return plain && trimmed.length <= MAX_NAME_CHARACTERS ? trimmed : null;
}
