import type { OutreachTemplate, OutreachLanguage } from '@latchkey/contract';

import type { OutreachLink } from '#server/config/catalog-model.ts';
import type { CatalogOutreach } from '#server/config/catalog.ts';
import type { MailBlock } from '#server/mail/mail-content.ts';
import { domainOf, type Mailbox } from '#server/mail/mailbox.ts';

/** What letters are made of, whatever their language: all of it is shown as it is. */
export interface TemplateFacts {
  /** Of the one who is written to; null: nobody is named. */
  readonly name: string | null;
  readonly productName: string;
  /** Who signs. */
  readonly sender: string;
  readonly links: Readonly<Record<OutreachLink, string>>;
  /** What the software is for, in a sentence. */
  readonly about: string | null;
  /** The version that the letter is about. */
  readonly version: string | null;
  /** What is new in it, in a sentence each. */
  readonly highlights: readonly string[];
  readonly postalAddress: string | null;
  /** Where this one stops all further letters. */
  readonly unsubscribeUrl: string;
}

/** What one letter says between the greeting and the farewell. */
export interface Letter {
  readonly subject: string;
  /** What an inbox shows beside the subject. */
  readonly preview: string;
  readonly blocks: readonly MailBlock[];
}

/** All letters in one language, and what is the same in each of them. */
export interface LanguageLetters extends Readonly<
  Record<OutreachTemplate, (facts: TemplateFacts) => Letter>
> {
  /** @param name null: nobody is named */
  readonly greeting: (name: string | null) => string;
  readonly farewell: string;
  /** Why it was sent. */
  readonly reason: (facts: TemplateFacts) => string;
  readonly unsubscribe: string;
}

export function paragraph(text: string): MailBlock {
  return { kind: 'paragraph', text };
}

/** A paragraph where there is something to say, and nothing else. */
export function optionalParagraph(text: string | null): MailBlock[] {
  return text === null ? [] : [paragraph(text)];
}

/** A list under a heading, or nothing. */
export function optionalList(heading: string, items: readonly string[]): MailBlock[] {
  if (items.length === 0) return [];
  return [
    { kind: 'heading', text: heading },
    { kind: 'list', items },
  ];
}

export function button(text: string, url: string): MailBlock {
  return { kind: 'button', text, url };
}

/** What is the same in all letters of a request. */
export type CommonFacts = Omit<TemplateFacts, 'name' | 'unsubscribeUrl'>;

/** What the catalogue says of the software and its maker, what it leaves open filled in from the address of mail. */
export function readCommonFacts(
  outreach: CatalogOutreach,
  language: OutreachLanguage,
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

/** What letters are shown with where nobody is written to. */
export const exampleRecipient = {
  name: 'Ada',
  /** Below the public URL; it opens nothing. */
  unsubscribePath: '/u/example',
} as const;
