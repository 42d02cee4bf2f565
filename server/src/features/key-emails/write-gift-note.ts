import type { Language } from '@latchkey/contract';

import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';

import { keyEmailTexts } from './texts.ts';
import { toGreetingName } from './write-key-email.ts';

/** The content of the e-mail to the payer of a gift. It contains no key. */
interface GiftNoteFacts {
  /** Null if unknown. */
  readonly payerName: string | null;
  /** The address that received the keys; null: another one than the payer entered. */
  readonly recipient: string | null;
  /** At least one. */
  readonly productNames: readonly string[];
  /** Identifies the purchase for the payer. */
  readonly transactionId: string;
}

/** The texts of the note in one language. */
interface GiftNoteTexts {
  readonly subject: string;
  /** @param recipient null for an address that the payer did not enter */
  readonly sent: (products: string, recipient: string | null) => string;
  readonly noKey: string;
  readonly missing: string;
}

const giftNoteTexts: Readonly<Record<Language, GiftNoteTexts>> = {
  en: {
    subject: 'Your gift was sent',
    sent: (products, recipient) =>
      `Thank you for your gift. The license for ${products} was sent to ${recipient ?? 'the recipient'}.`,
    noKey: 'The license key is only in the e-mail to the recipient.',
    missing: 'If the e-mail did not arrive, ask the recipient to look in the spam folder.',
  },
  fr: {
    subject: 'Votre cadeau a été envoyé',
    sent: (products, recipient) =>
      `Merci pour votre cadeau. La licence pour ${products} a été envoyée à ${recipient ?? 'son destinataire'}.`,
    noKey: 'La clé de licence figure uniquement dans l’e-mail adressé au destinataire.',
    missing:
      'Si l’e-mail n’est pas arrivé, demandez au destinataire de vérifier son dossier de courrier indésirable.',
  },
  de: {
    subject: 'Ihr Geschenk wurde verschickt',
    sent: (products, recipient) =>
      `vielen Dank für Ihr Geschenk. Die Lizenz für ${products} wurde an ${recipient ?? 'die beschenkte Person'} geschickt.`,
    noKey: 'Der Lizenzschlüssel steht nur in der E-Mail an die beschenkte Person.',
    missing:
      'Falls die E-Mail nicht angekommen ist, bitten Sie die beschenkte Person, im Spam-Ordner nachzusehen.',
  },
};

/** Writes the e-mail that notifies the payer of a gift. */
export function writeGiftNote(
  language: Language,
  { payerName, recipient, productNames, transactionId }: GiftNoteFacts,
): RenderedMail {
  const { subject, sent, noKey, missing } = giftNoteTexts[language];
  const { greeting: greet, order } = keyEmailTexts[language];
  const greeting = greet(toGreetingName(payerName));
  const introduction = sent([...new Set(productNames)].join(', '), recipient);
  return renderMail({
    language,
    subject,
    preview: `${greeting} ${introduction}`,
    blocks: [
      { kind: 'title', text: subject },
      ...[greeting, introduction, noKey, missing].map((text) => ({
        kind: 'paragraph' as const,
        text,
      })),
    ],
    footer: [order(transactionId)],
  });
}

/** An example for the preview. */
export const exampleGiftNote: GiftNoteFacts = {
  payerName: 'Robin Example',
  recipient: 'ada@example.com',
  productNames: ['Example Studio'],
  transactionId: 'txn_01example',
};
