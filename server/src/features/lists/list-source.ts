/** Where the rows of a list that the contract declares come from. */
import type { AnyListResource, ItemOf } from '@latchkey/contract';
import type { Pool } from 'pg';
import type { Static, TObject } from 'typebox';

import { queryBoundedPage, type BoundedList, type Filter } from '#server/db/bounded-list.ts';
import {
  queryPage,
  type Condition,
  type DefinedList,
  type Page,
  type PageRequest,
} from '#server/db/list.ts';

type Params<Of extends AnyListResource> = Of['params'] extends TObject
  ? Static<Of['params']>
  : object;

/** The names of the filters of a list and of the parameters of its path, with `search` if it can be searched. */
type FilterName<Of extends AnyListResource> =
  | (keyof Of['filters'] & string)
  | (keyof Params<Of> & string)
  | (Of['search'] extends undefined ? never : 'search');

type FilterValue<Of extends AnyListResource, Name> = Name extends keyof Of['filters']
  ? NonNullable<Static<Of['filters'][Name]>>
  : string;

/** What a request selects: each parameter of the path, each filter that it names, and `search`. */
export type Selection<Of extends AnyListResource> = {
  readonly [Name in FilterName<Of>]?: FilterValue<Of, Name> | undefined;
};

/** Reads a page of rows. @throws InvalidPositionError */
type ReadPage<Row> = (request: PageRequest) => Promise<Page<Row>>;

/** Reads the rows of a list. */
export interface ListSource<Of extends AnyListResource, Row> {
  /**
   * Of a list below a resource: reads the resource, before anything is listed or recorded.
   * @throws notFound (404)
   */
  readonly require?: (selection: Selection<Of>) => Promise<unknown>;
  /**
   * Returns how the pages of a selection are read.
   * @throws invalidRequest (422) for a value of a filter that is not valid, before anything is read or recorded
   */
  readonly read: (selection: Selection<Of>, now: Date) => ReadPage<Row>;
  readonly view: (row: Row, now: Date) => ItemOf<Of>;
}

/** The condition of each filter; null: the value selects everything. */
export type FilterConditions<Of extends AnyListResource, Selects = Condition> = {
  readonly [Name in FilterName<Of>]: (value: FilterValue<Of, Name>, now: Date) => Selects | null;
};

/**
 * Reads a list with a condition for each filter.
 * @param always holds for every row
 */
export function selectFrom<Of extends AnyListResource, Row extends TObject>(
  deps: { readonly pool: Pool },
  list: DefinedList<Row>,
  filters: FilterConditions<Of>,
  always: readonly Condition[] = [],
): ListSource<Of, Static<Row>>['read'] {
  return (selection, now) => {
    const conditions = [...always, ...toConditions(filters, selection, now)];
    return (request) => queryPage(deps.pool, list, request, conditions);
  };
}

/** Reads a list of very many rows with a condition for each filter. */
export function selectFromBounded<Of extends AnyListResource, Row extends TObject>(
  deps: { readonly pool: Pool },
  list: BoundedList<Row>,
  filters: FilterConditions<Of, Filter>,
): ListSource<Of, Static<Row>>['read'] {
  return (selection, now) => {
    const conditions = toConditions(filters, selection, now);
    return (request) => queryBoundedPage(deps.pool, list, request, conditions);
  };
}

/** Returns the conditions of what a request selects. */
export function toConditions<Of extends AnyListResource, Selects>(
  filters: FilterConditions<Of, Selects>,
  selection: Selection<Of>,
  now: Date,
): Selects[] {
  const names = Object.keys(selection) as FilterName<Of>[];
  return names.flatMap((name) => {
    const value = selection[name];
    return value === undefined ? [] : (filters[name](value, now) ?? []);
  });
}

/** Returns what a request selects: without its page and order, without blanks around a search, without an empty search. */
export function readSelection<Of extends AnyListResource>(
  of: Of,
  { query, params = {} }: { readonly query: object; readonly params?: object },
): Selection<Of> {
  const search = 'search' in query ? String(query.search).trim() : '';
  const names = Object.keys(of.filters);
  const named = Object.entries(query).filter(([name]) => names.includes(name));
  const selection = {
    ...params,
    ...Object.fromEntries(named),
    ...(search === '' ? {} : { search }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the request fits the schemas that the list made of its parameters and filters.
  return selection as unknown as Selection<Of>;
}
