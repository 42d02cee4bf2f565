import { LANGUAGES } from '@latchkey/contract';
import { Type, type Static } from 'typebox';

import { defineStatement, queryRows, Timestamp, type Queryable } from '#server/db/statement.ts';

const NewsletterRecipient = Type.Object({
  id: Type.String(),
  email: Type.String(),
  language: Type.Union([Type.Enum(LANGUAGES), Type.Null()]),
  firstSubscribedAt: Timestamp,
});

/** A confirmed subscriber, who may have been suppressed since. */
export type NewsletterRecipient = Readonly<Static<typeof NewsletterRecipient>>;

/** Which subscribers; empty: all. */
export interface NewsletterFilter {
  readonly languages: readonly string[];
  /** Has a license of one of these. */
  readonly products: readonly string[];
}

/** A page reads many subscribers, if few of them match. */
const LONG_STATEMENT_MS = 60_000;

const listStatement = defineStatement(
  'campaign_list_subscribers',
  NewsletterRecipient,
  `select id, email, language, first_subscribed_at from subscribers
   where confirmed_at is not null and email is not null
     and (first_subscribed_at, id) > ($1, $2::uuid)
     and (cardinality($3::text[]) = 0 or language = any ($3))
     and (cardinality($4::text[]) = 0 or exists (
       select from licenses
       where lower(customer_email) = lower(subscribers.email) and product_id = any ($4) and not is_test))
   order by first_subscribed_at, id limit $5`,
);

/** The keys before all rows. */
const FIRST = { firstSubscribedAt: new Date(0), id: '00000000-0000-0000-0000-000000000000' };

/**
 * Lists a page of confirmed subscribers, oldest first.
 * @param after the last one of the previous page; null: the first page
 */
export async function listNewsletterRecipients(
  db: Queryable,
  { languages, products }: NewsletterFilter,
  after: NewsletterRecipient | null,
  limit: number,
): Promise<NewsletterRecipient[]> {
  const { firstSubscribedAt, id } = after ?? FIRST;
  const parameters = [firstSubscribedAt, id, languages, products, limit];
  return queryRows(db, listStatement, parameters, LONG_STATEMENT_MS);
}
