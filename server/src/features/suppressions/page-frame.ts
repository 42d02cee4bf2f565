import { parseMailbox } from '#server/mail/parse-mailbox.ts';
import { choosePageLanguage, type PageLanguage } from '#server/pages/page-language.ts';

import { nameSender, type SenderContext } from './name-sender.ts';

/** What all pages about mail have in common. */
export interface PageFrame {
  readonly language: PageLanguage;
  readonly sender: string;
  /** The address to write to; null: there is none. */
  readonly contact: string | null;
}

/**
 * Decides in whose name and language a page speaks: that of the browser, where it is one of ours.
 * @param acceptLanguage the header field
 * @param known the language that mail to this person is written in
 */
export function framePage(
  ctx: SenderContext,
  acceptLanguage: string | undefined,
  known: PageLanguage | null = null,
): PageFrame {
  const { from } = ctx.config.mail;
  return {
    language: choosePageLanguage(acceptLanguage) ?? known ?? 'en',
    sender: nameSender(ctx),
    contact: from === null ? null : parseMailbox(from).address,
  };
}
