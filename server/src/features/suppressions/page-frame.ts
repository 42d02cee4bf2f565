import type { CatalogOutreach } from '#server/config/catalog-model.ts';
import { parseMailbox, domainOf } from '#server/mail/mailbox.ts';
import { choosePageLanguage, type PageLanguage } from '#server/pages/page-language.ts';

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

/** What tells who the sender of mail is. */
export interface SenderContext {
  readonly catalog: () => { readonly outreach: Pick<CatalogOutreach, 'sender'> };
  readonly config: {
    readonly http: { readonly publicUrl: string };
    readonly mail: { readonly from: string | null };
  };
}

/** Who speaks in news and on the pages about them: as the catalogue has it, or else as mail comes from him. */
export function nameSender({ catalog, config }: SenderContext): string {
  const { sender } = catalog().outreach;
  if (sender !== null) return sender;
  if (config.mail.from === null) return new URL(config.http.publicUrl).hostname;
  const { name, address } = parseMailbox(config.mail.from);
  return name === '' ? domainOf(address) : name;
}
