import { type TOptional, type TSchema, type TUnsafe, Type } from 'typebox';

import { integer, nullableString, oneOf, ref, text } from './schema.ts';

/** How many items a page of a list has. */
export const DEFAULT_LIST_LIMIT = 50;
export const MAX_LIST_LIMIT = 200;

/** In characters; the longest e-mail address has 254. */
const MAX_SEARCH_LENGTH = 320;
const MAX_CURSOR_LENGTH = 2_000;

const limit = Type.Optional(
  text({
    description: `How many items a page has: 1 to ${MAX_LIST_LIMIT}; default: ${DEFAULT_LIST_LIMIT}.`,
    maxLength: 3,
    examples: ['50'],
  }),
);

export const cursor = Type.Optional(
  text({
    description: 'The `next_cursor` of the page before, with the same filters and order.',
    maxLength: MAX_CURSOR_LENGTH,
  }),
);

/** The parameters of a page. */
export const pageQuery = { cursor, limit };

/**
 * The query of a list.
 * @param sorts the names that the list can be sorted by; the first one is the default, ascending or with `-` descending
 * @param filters further parameters; all must be optional
 * @param search what `search` finds; absent: the list cannot be searched
 */
export function listQuery<Filters extends Record<string, TSchema>>(
  sorts: readonly [string, ...string[]],
  filters: Filters,
  search?: string,
) {
  return Type.Object(
    { ...rowsQuery(sorts, filters, search).properties, ...pageQuery },
    { additionalProperties: false },
  );
}

/** The query of an export: a {@link listQuery} without pages. */
export function rowsQuery<Filters extends Record<string, TSchema>>(
  sorts: readonly [string, ...string[]],
  filters: Filters,
  search?: string,
) {
  return Type.Object(
    { ...sortQuery(sorts), ...searchQuery(search), ...filters },
    { additionalProperties: false },
  );
}

function sortQuery(sorts: readonly [string, ...string[]]) {
  const [first] = sorts;
  const names = sorts.flatMap((sort) => {
    const name = sort.replace(/^-/, '');
    return [name, `-${name}`];
  });
  return {
    sort: Type.Optional(
      oneOf(names, { description: `The order, with \`-\` descending; default: \`${first}\`.` }),
    ),
  };
}

interface SearchQuery {
  search: TOptional<TUnsafe<string>>;
}

/** Its type says that every list can be searched, so that the type of a query does not depend on a value. */
function searchQuery(description: string | undefined): SearchQuery;
function searchQuery(description: string | undefined): Partial<SearchQuery> {
  if (description === undefined) return {};
  return { search: Type.Optional(text({ description, maxLength: MAX_SEARCH_LENGTH })) };
}

/** A page of a list. @param item a named schema */
export function listOf<Item extends TSchema>(item: Item, $id: string) {
  return Type.Object(
    {
      items: Type.Array(ref(item)),
      next_cursor: nullableString({
        description:
          'The `cursor` of the next page; null on the last page. A page before the last one can have fewer items than `limit`, or none, because it searched a limited number of rows.',
      }),
    },
    { $id },
  );
}

/** The version of a resource that a change is based on. */
export const expectedVersion = integer({
  description:
    'The `version` that the operator saw. When the resource has changed since, the answer is 409 `conflict`.',
  minimum: 1,
  maximum: 2_147_483_647,
  examples: [3],
});

/** The reason of a change, for the audit log; not empty. */
export const reason = text({
  description: 'The reason of the change, for the audit log.',
  minLength: 1,
  maxLength: 500,
  examples: ['The customer asked for it, ticket 4711'],
});
