import type { OutreachLanguage } from '@latchkey/contract';

import type { CatalogOutreach } from '#server/config/catalog.ts';
import { domainOf, type Mailbox } from '#server/mail/parse-mailbox.ts';

import type { LetterFacts } from './letter.ts';

/** What is the same in all letters of a request. */
export type CommonFacts = Omit<LetterFacts, 'name' | 'unsubscribeUrl'>;

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
