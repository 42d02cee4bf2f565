/** Lists of the operator interface as values, from which their routes, CSV files, audit entries, commands and tables follow. */
import type { Static, TObject, TSchema } from 'typebox';

import { listOf, listQuery, rowsQuery } from './admin-list.ts';
import { csvFile, operation } from './operation.ts';
import type { Permission } from './permissions.ts';
import { nameOf, ref } from './schema.ts';

type Filters = Readonly<Record<string, TSchema>>;

interface ListDeclaration<Item extends TObject, Filtered extends Filters> {
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
  /** What it can be sorted by; the first one is the default, ascending or with `-` descending. */
  readonly sorts: readonly [string, ...string[]];
  /** Optional parameters of the query. */
  readonly filters: Filtered;
  /** What `search` finds, as a sentence; absent: the list cannot be searched. */
  readonly search?: string;
  readonly permissions: { readonly read: Permission; readonly export: Permission };
  /** Columns of the CSV file, as paths such as `conversion.license_id`. Default: every plain field of the item. */
  readonly columns?: readonly string[];
}

/** Declares a list with its two operations: a page of it, and all of it as CSV. */
export function listResource<Item extends TObject, const Filtered extends Filters>(
  of: ListDeclaration<Item, Filtered>,
) {
  const { id, title, path, item, sorts, filters, search, permissions } = of;
  return {
    ...of,
    columns: of.columns ?? listPlainFields(item),
    list: operation({
      id: `list${id}`,
      method: 'GET',
      path,
      summary: `List ${title}`,
      permission: permissions.read,
      query: listQuery(sorts, filters, search),
      response: ref(listOf(item, `${nameOf(item)}Page`), 'One page.'),
    }),
    export: operation({
      id: `export${id}`,
      method: 'GET',
      path: `${path}/export`,
      summary: `Export ${title} as CSV`,
      description: 'The audit log records each export.',
      permission: permissions.export,
      query: rowsQuery(sorts, filters, search),
      response: csvFile('All that the filters select, one line each.'),
    }),
  };
}

/** Any list. */
export type AnyListResource = ReturnType<typeof listResource<TObject, Filters>>;

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
