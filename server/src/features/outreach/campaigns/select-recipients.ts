import { setImmediate } from 'node:timers/promises';

import {
  LANGUAGES,
  parseEmail,
  type CampaignAudience,
  type CampaignTexts,
  type Language,
} from '@latchkey/contract';

import type { Queryable } from '#server/db/statement.ts';

import { listCustomerAddresses } from '../../licenses/queries/customer-addresses.ts';
import {
  listNewsletterRecipients,
  type NewsletterRecipient,
} from '../../subscribers/queries/newsletter-recipients.ts';
import { hashAddress } from '../../suppressions/address-hash.ts';
import { listSuppressedAddresses } from '../../suppressions/stored-addresses.ts';
import type { OutreachDependencies } from '../dependencies.ts';
import { parseList, type Candidate } from './parse-list.ts';

type SelectDependencies = Pick<OutreachDependencies, 'clock' | 'vault'>;

/** Who gets which text of a campaign. */
export interface Selection {
  readonly audience: CampaignAudience;
  /** Of the source `list`. */
  readonly list: string | null;
  readonly texts: CampaignTexts;
  readonly defaultLanguage: Language;
}

/** A candidate, the language of the mail, and why it gets none. */
export interface SelectedRecipient {
  readonly email: string;
  readonly name: string | null;
  readonly language: Language;
  readonly excluded: 'suppressed' | 'duplicate' | 'invalid' | null;
  /** Empty for an invalid address. */
  readonly addressHash: string;
}

const PAGE_ROWS = 1_000;

/** Yields every candidate of a selection in a fixed order, with those that get no mail. */
export async function* selectRecipients(
  db: Queryable,
  deps: SelectDependencies,
  selection: Selection,
): AsyncGenerator<SelectedRecipient> {
  for await (const page of selectRecipientPages(db, deps, selection)) yield* page;
}

/** Like {@link selectRecipients}, page by page. */
export async function* selectRecipientPages(
  db: Queryable,
  deps: SelectDependencies,
  selection: Selection,
): AsyncGenerator<readonly SelectedRecipient[]> {
  const seen = new Set<string>();
  for await (const page of readCandidates(db, deps, selection)) {
    yield await selectPage(db, deps, selection, page, seen);
  }
}

async function selectPage(
  db: Queryable,
  { vault }: SelectDependencies,
  { texts, defaultLanguage }: Selection,
  page: readonly Candidate[],
  seen: Set<string>,
): Promise<SelectedRecipient[]> {
  const valid = page.filter(({ email }) => 'email' in parseEmail(email));
  const emails = valid.map(({ email }) => email);
  const isSuppressed = await listSuppressedAddresses(db, vault, emails);
  const suppressed = new Set(emails.filter((_, index) => isSuppressed[index] === true));
  return page.map(({ email, name, language: own }) => {
    const language = own !== null && texts[own] !== undefined ? own : defaultLanguage;
    const recipient = { email, name, language };
    if ('fault' in parseEmail(email)) return { ...recipient, addressHash: '', excluded: 'invalid' };
    const addressHash = hashAddress(vault, email);
    const isDuplicate = seen.has(addressHash);
    seen.add(addressHash);
    if (isDuplicate) return { ...recipient, addressHash, excluded: 'duplicate' };
    return { ...recipient, addressHash, excluded: suppressed.has(email) ? 'suppressed' : null };
  });
}

async function* readCandidates(
  db: Queryable,
  { clock }: SelectDependencies,
  { audience, list }: Selection,
): AsyncGenerator<readonly Candidate[]> {
  if (audience.source === 'subscribers') yield* readSubscribers(db, audience);
  else if (audience.source === 'customers') yield* readCustomers(db, audience, clock.now());
  else yield* readList(list ?? '', audience);
}

async function* readSubscribers(
  db: Queryable,
  { languages, products }: CampaignAudience,
): AsyncGenerator<readonly Candidate[]> {
  for (let last: NewsletterRecipient | null = null; ;) {
    const filter = { languages, products };
    const page: NewsletterRecipient[] = await listNewsletterRecipients(db, filter, last, PAGE_ROWS);
    yield page.map(({ email, language }) => ({ email, language, name: null }));
    last = page.at(-1) ?? null;
    if (last === null || page.length < PAGE_ROWS) return;
  }
}

async function* readCustomers(
  db: Queryable,
  { languages, products, statuses }: CampaignAudience,
  now: Date,
): AsyncGenerator<readonly Candidate[]> {
  for (let after = ''; ;) {
    const page = await listCustomerAddresses(db, { products, statuses }, after, PAGE_ROWS, now);
    yield ofLanguages(page, languages);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE_ROWS) return;
    after = last.key;
  }
}

async function* readList(
  list: string,
  { languages }: CampaignAudience,
): AsyncGenerator<readonly Candidate[]> {
  for (const page of parseList(list, PAGE_ROWS)) {
    yield ofLanguages(page, languages);
    // Nothing else waits between pages without addresses.
    await setImmediate();
  }
}

function ofLanguages<Each extends Candidate>(
  candidates: readonly Each[],
  languages: readonly Language[],
): readonly Each[] {
  if (languages.length === 0 || languages.length === LANGUAGES.length) return candidates;
  return candidates.filter(({ language }) => language !== null && languages.includes(language));
}
