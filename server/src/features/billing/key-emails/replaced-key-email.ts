import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';

import { keyEmailTexts, type KeyEmailLanguage } from './key-email-texts.ts';
import { greetable, type EmailedKey } from './key-email.ts';
import { replacedKeyTexts } from './replaced-key-texts.ts';

/** What the e-mail with a new key is made of. */
export interface ReplacedKeyFacts extends EmailedKey {
  /** Null when it is not known. */
  readonly customerName: string | null;
  /** Whether computers that were active stay so. */
  readonly machinesKept: boolean;
}

/** Writes the e-mail that brings the owner of a license the key that replaced the one before. */
export function writeReplacedKeyEmail(
  language: KeyEmailLanguage,
  facts: ReplacedKeyFacts,
): RenderedMail {
  const texts = replacedKeyTexts[language];
  const { greeting, machines } = keyEmailTexts[language];
  const subject = texts.subject(facts.productName);
  const greeted = greeting(greetable(facts.customerName));
  return renderMail({
    language,
    subject,
    preview: `${greeted} ${texts.replaced}`,
    blocks: [
      { kind: 'title', text: subject },
      { kind: 'paragraph', text: greeted },
      { kind: 'paragraph', text: texts.replaced },
      {
        kind: 'code',
        label: facts.productName,
        code: facts.licenseKey,
        note: machines(facts.maxActivations),
      },
      { kind: 'heading', text: texts.whatToDo },
      {
        kind: 'paragraph',
        text: facts.machinesKept ? texts.machinesKept : texts.machinesDropped,
      },
    ],
    footer: [texts.keep],
  });
}

/** A made-up replacement, for looking at the e-mail. The key opens nothing. */
export const exampleReplacedKey: ReplacedKeyFacts = {
  customerName: 'Robin Example',
  productName: 'Example Studio',
  licenseKey: 'LK-EXAMP-LE000-00000-00000-00002',
  maxActivations: 2,
  machinesKept: true,
};
