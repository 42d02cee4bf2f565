import type { OutreachTemplate, Language } from '@latchkey/contract';

import type { OutreachLink } from '#server/config/catalog-model.ts';
import type { CatalogOutreach } from '#server/config/catalog.ts';
import { domainOf, type Mailbox } from '#server/mail/mailbox.ts';

/** The facts that templates show, in every language, as plain text. */
export interface TemplateFacts {
  /** The recipient's name, or null. */
  readonly name: string | null;
  readonly productName: string;
  /** The signature. */
  readonly sender: string;
  readonly links: Readonly<Record<OutreachLink, string>>;
  /** The purpose of the software, in one sentence. */
  readonly about: string | null;
  /** The new version. */
  readonly version: string | null;
  /** The changes of the new version, one sentence each. */
  readonly highlights: readonly string[];
  readonly postalAddress: string | null;
  readonly unsubscribeUrl: string;
}

/** The texts of a message between greeting and closing, in their order. */
export interface MessageTexts {
  readonly subject: string;
  /** Shown by an inbox beside the subject. */
  readonly preview: string;
  readonly opening: string;
  readonly details?: string;
  readonly points?: { readonly heading: string | null; readonly items: readonly string[] };
  readonly button: string;
  /** The text of a link to the news. */
  readonly link?: string;
  readonly ending: string;
}

/** All templates in one language, and their common texts. */
export interface LanguageTexts extends Readonly<
  Record<OutreachTemplate, (facts: TemplateFacts) => MessageTexts>
> {
  readonly greeting: (name: string | null) => string;
  readonly newsHeading: string;
  readonly closing: string;
  /** Why the message was sent. */
  readonly reason: (facts: TemplateFacts) => string;
  readonly unsubscribe: string;
}

export function nameVersion(productName: string, version: string | null): string {
  return version === null ? productName : `${productName} ${version}`;
}

/** The facts that all messages of a request share. */
export type CommonFacts = Omit<TemplateFacts, 'name' | 'unsubscribeUrl'>;

/** Reads the facts from the catalogue; missing ones default to the sender of mail. */
export function readCommonFacts(
  outreach: CatalogOutreach,
  language: Language,
  from: Mailbox,
): CommonFacts {
  const { productName, links, postalAddress, version } = outreach;
  const website = outreach.website ?? `https://${domainOf(from.address)}/`;
  return {
    productName,
    sender: outreach.sender ?? (from.name === '' ? productName : from.name),
    links: {
      download: links.download ?? website,
      sellers: links.sellers ?? website,
      tutorials: links.tutorials ?? website,
      news: links.news ?? website,
    },
    about: outreach.about[language],
    version,
    highlights: outreach.highlights[language],
    postalAddress,
  };
}

/** The recipient in previews. */
export const exampleRecipient = {
  name: 'Ada',
  /** Below the public URL; not a valid link. */
  unsubscribePath: '/u/example',
} as const;
