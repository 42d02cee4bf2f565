import { type Static, Type } from 'typebox';

import { operation } from './operation.ts';
import { nullable, nullableString, dateTime, oneOf, ref, text } from './schema.ts';

/** In characters; license keys may have as many. */
const MAX_SEARCHED_LENGTH = 512;

/** What a search can find, in the order of the results. */
export const SEARCH_KINDS = [
  'license',
  'customer',
  'subscriber',
  'transaction',
  'subscription',
  'payment_event',
  'activation',
  'machine',
  'install',
  'event',
  'webhook_message',
] as const;

export type SearchKind = (typeof SEARCH_KINDS)[number];

const SearchQuery = Type.Object(
  {
    q: text({
      description:
        'A license key, or its last characters as lists show them; an e-mail address or the name of a customer, or its beginning; or an id: of a license (or at least its first 8 digits), activation, machine, install, event, transaction, subscription, payment event, outgoing webhook, or of a customer at a payment provider.',
      maxLength: MAX_SEARCHED_LENGTH,
      examples: ['ada@example.com'],
    }),
  },
  { additionalProperties: false },
);

const SearchHit = Type.Object(
  {
    kind: oneOf(SEARCH_KINDS, { examples: ['license'] }),
    id: Type.String({
      description: 'The id of what was found; of a customer, the e-mail address in lower case.',
      examples: ['0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'],
    }),
    title: Type.String({ examples: ['Personal …9K2M'] }),
    detail: nullableString({
      description: 'A fact that distinguishes this result from similar ones.',
      examples: ['ada@example.com'],
    }),
    status: nullableString({
      description: 'The status of a license, payment event or subscriber.',
      examples: ['active'],
    }),
    at: nullable(
      dateTime({
        description: 'When it was created, received or last seen.',
        examples: ['2026-11-20T10:00:00.000Z'],
      }),
    ),
    path: Type.String({
      description: 'Its page in the console, below `/console`.',
      examples: ['/licenses/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d'],
    }),
  },
  { $id: 'SearchHit' },
);
export type SearchHit = Static<typeof SearchHit>;

const SearchResults = Type.Object(
  {
    items: Type.Array(ref(SearchHit), {
      description: 'At most 50, and of each kind at most 8. Keys are not shown.',
    }),
    more: Type.Boolean({ description: 'Whether more was found than is listed.' }),
  },
  { $id: 'SearchResults' },
);
export type SearchResults = Static<typeof SearchResults>;

export const searchEverything = operation({
  id: 'search',
  method: 'GET',
  path: 'search',
  summary: 'Search for anything by its key, id or e-mail address',
  description:
    'Keys and ids are found as a whole, e-mail addresses, names, machines and UUIDs also by their beginning. A text of one character finds nothing.',
  permission: 'search:read',
  query: SearchQuery,
  response: ref(SearchResults, 'What was found, by kind.'),
});
