import { renderMail, type RenderedMail } from '#server/mail/render-mail.ts';
import type { PageLanguage } from '#server/pages/page-language.ts';

import { confirmationMailTexts } from './confirmation-mail-texts.ts';

/** What the mail that asks for a confirmation is made of. */
export interface ConfirmationMailFacts {
  readonly sender: string;
  readonly email: string;
  readonly confirmUrl: string;
  readonly unsubscribeUrl: string;
}

/** Writes the mail that asks somebody to confirm that he wants news. */
export function writeConfirmationMail(
  language: PageLanguage,
  { sender, email, confirmUrl, unsubscribeUrl }: ConfirmationMailFacts,
): RenderedMail {
  const texts = confirmationMailTexts[language];
  const ask = texts.ask(sender);
  return renderMail({
    language,
    subject: texts.subject,
    preview: ask,
    blocks: [
      { kind: 'title', text: texts.subject },
      { kind: 'paragraph', text: texts.greeting },
      { kind: 'paragraph', text: ask },
      { kind: 'button', text: texts.button, url: confirmUrl },
      { kind: 'paragraph', text: texts.notYou },
      { kind: 'lines', lines: [sender] },
    ],
    footer: [texts.sentTo(email), { text: texts.never, url: unsubscribeUrl }],
  });
}
