import type { CatalogOutreach } from '#server/config/catalog-model.ts';
import { domainOf, parseMailbox } from '#server/mail/mailbox.ts';
import type { Language } from '@latchkey/contract';

import { choosePageLanguage } from '#server/pages/page-language.ts';

/** The settings that name the sender of mail. */
export interface SenderSettings {
  readonly catalog: () => { readonly outreach: Pick<CatalogOutreach, 'sender'> };
  readonly config: {
    readonly http: { readonly publicUrl: string };
    readonly mail: { readonly from: string | null };
  };
}

/** Returns the sender's name for e-mails and pages: from the catalogue, else from `LATCHKEY_MAIL_FROM`, else the host name. */
export function nameSender({ catalog, config }: SenderSettings): string {
  const { sender } = catalog().outreach;
  if (sender !== null) return sender;
  if (config.mail.from === null) return new URL(config.http.publicUrl).hostname;
  const { name, address } = parseMailbox(config.mail.from);
  return name === '' ? domainOf(address) : name;
}

/** The common content of all pages about mail. */
export interface PageFrame {
  readonly language: Language;
  readonly sender: string;
  /** The address for replies, or null. */
  readonly contact: string | null;
}

/**
 * Returns the sender and the language of a page: the browser's language where it is supported.
 * @param acceptLanguage the header field
 * @param mailLanguage the language of the mail that links to the page
 */
export function createPageFrame(
  settings: SenderSettings,
  acceptLanguage: string | undefined,
  mailLanguage: Language | null = null,
): PageFrame {
  const { from } = settings.config.mail;
  return {
    language: choosePageLanguage(acceptLanguage) ?? mailLanguage ?? 'en',
    sender: nameSender(settings),
    contact: from === null ? null : parseMailbox(from).address,
  };
}
