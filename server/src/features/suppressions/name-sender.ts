import type { CatalogOutreach } from '#server/config/catalog-model.ts';
import { domainOf, parseMailbox } from '#server/mail/parse-mailbox.ts';

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
