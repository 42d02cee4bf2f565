/** Lists of the operator interface as values, from which their routes, CSV files, audit entries, commands and tables follow. */
import { type Static, type TObject, type TSchema, Type } from 'typebox';

import { listOf, listQuery, rowsQuery } from './admin-list.ts';
import type { ErrorCode } from './error-catalogue.ts';
import { csvFile, operation } from './operation.ts';
import type { Permission } from './permissions.ts';
import { nameOf, ref } from './schema.ts';

type Filters = Readonly<Record<string, TSchema>>;

interface CollectionDeclaration<Item extends TObject> {
  /** In operation ids: `Trials` in `listTrials`. */
  readonly id: string;
  /** One of them, in audit entries: `trial` in `trial.export`. */
  readonly name: string;
  /** All of them, in summaries and file names: `trials`. */
  readonly title: string;
  /** Below `/api/v1/admin/`. */
  readonly path: string;
  /** A named schema. */
  readonly item: Item;
  readonly permissions: { readonly read: Permission; readonly export: Permission };
  /** Columns of the CSV file, as paths such as `conversion.license_id` or `id as license_id`. Default: every plain field of the item. */
  readonly columns?: readonly string[];
  /** Stands between several values in one cell of the CSV file. Default: a blank. */
  readonly separator?: ' ' | ',';
}

interface ListDeclaration<
  Item extends TObject,
  Filtered extends Filters,
  Search extends string | undefined,
> extends CollectionDeclaration<Item> {
  /** What its rows are, if the title does not say it; sentences. */
  readonly description?: string;
  /** What it can be sorted by; the first one is the default, ascending or with `-` descending. */
  readonly sorts: readonly [string, ...string[]];
  /** Optional parameters of the query. */
  readonly filters: Filtered;
  /** What `search` finds, as a sentence; absent: the list cannot be searched. */
  readonly search?: Search;
  /** Filters, or `search`, whose values can be a person's: an audit entry has only that they were set. */
  readonly personal?: readonly string[];
}

/** Declares a list with its two operations: a page of it, and all of it as CSV. */
export function listResource<
  Item extends TObject,
  const Filtered extends Filters,
  const Search extends string | undefined = undefined,
>(of: ListDeclaration<Item, Filtered, Search>) {
  return declareList(of, undefined);
}

/** Declares a list below a resource. @param params of the path, each of which selects rows as a filter does */
export function listBelow<
  Params extends TObject,
  Item extends TObject,
  const Filtered extends Filters,
  const Search extends string | undefined = undefined,
>(params: Params, of: ListDeclaration<Item, Filtered, Search>) {
  return declareList(of, params);
}

function declareList<
  Item extends TObject,
  const Filtered extends Filters,
  const Search extends string | undefined,
  Params extends TObject | undefined,
>(of: ListDeclaration<Item, Filtered, Search>, params: Params) {
  const { id, title, path, item, sorts, filters, search, permissions } = of;
  const errors: readonly ErrorCode[] = params === undefined ? [] : ['not_found'];
  return {
    ...of,
    params,
    columns: of.columns ?? listPlainFields(item),
    list: operation({
      id: `list${id}`,
      method: 'GET',
      path,
      summary: `List ${title}`,
      ...(of.description === undefined ? {} : { description: of.description }),
      permission: permissions.read,
      params,
      query: listQuery(sorts, filters, search),
      response: ref(listOf(item, `${nameOf(item)}Page`), 'One page.'),
      errors,
    }),
    export: operation({
      id: `export${id}`,
      method: 'GET',
      path: `${path}/export`,
      summary: `Export ${title} as CSV`,
      description: 'The audit log records each export.',
      permission: permissions.export,
      params,
      query: rowsQuery(sorts, filters, search),
      response: csvFile('All that the filters select, one line each.'),
      errors,
    }),
  };
}

/** Any list. */
export type AnyListResource = ReturnType<
  typeof declareList<TObject, Filters, string | undefined, TObject | undefined>
>;

/** Declares a short list, which is neither paged nor filtered, with its two operations: all of it, and the same as CSV. */
export function collectionResource<Item extends TObject>(of: CollectionDeclaration<Item>) {
  const { id, title, path, item, permissions } = of;
  return {
    ...of,
    columns: of.columns ?? listPlainFields(item),
    list: operation({
      id: `list${id}`,
      method: 'GET',
      path,
      summary: `List ${title}`,
      permission: permissions.read,
      response: ref(collectionOf(item), 'All of them.'),
    }),
    export: operation({
      id: `export${id}`,
      method: 'GET',
      path: `${path}/export`,
      summary: `Export ${title} as CSV`,
      description: 'The audit log records each export.',
      permission: permissions.export,
      response: csvFile('All of them, one line each.'),
    }),
  };
}

function collectionOf<Item extends TObject>(item: Item) {
  return Type.Object({ items: Type.Array(ref(item)) }, { $id: `${nameOf(item)}s` });
}

/** Any short list. */
export type AnyCollectionResource = ReturnType<typeof collectionResource<TObject>>;

/** The item of a list. */
export type ItemOf<Of extends { readonly item: TObject }> = Static<Of['item']>;

function listPlainFields(schema: TObject): string[] {
  return Object.entries(schema.properties).flatMap(([name, field]: [string, object]) => {
    const { type, properties } = { type: 'object', properties: {}, ...field };
    const types = new Set([type].flat());
    if (types.has('object')) return Object.keys(properties).map((each) => `${name}.${each}`);
    return types.has('array') ? [] : [name];
  });
}
