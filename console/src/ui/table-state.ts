/** The state of a list in the address: search, filters, order and page. */
import { addQuery, type QueryChanges } from '#console/app/query.ts';

/** The parameters of a list in the address, which are those of the interface. */
export interface TableState {
  /** Precedes the names of the parameters in the address, so that two lists can be on one page. */
  readonly prefix: string;
  /** Search and filters by their names, without empty ones. */
  readonly filters: Readonly<Record<string, string>>;
  /** Such as `-created_at`; '' is the default order of the list. */
  readonly sort: string;
  /** '' is the first page. */
  readonly cursor: string;
}

/**
 * Reads the state of a list from the query of the address.
 * @param names the parameters that are filters
 * @param prefix such as `sales-` for a page with several lists
 */
export function readTableState(
  query: URLSearchParams,
  names: readonly string[],
  prefix = '',
): TableState {
  const read = (name: string): string => query.get(prefix + name) ?? '';
  const filters: Record<string, string> = {};
  for (const name of names) {
    const value = read(name);
    if (value !== '') filters[name] = value;
  }
  return { prefix, filters, sort: read('sort'), cursor: read('cursor') };
}

/** Returns changes of a list's parameters as changes of the address. */
export function inAddress({ prefix }: TableState, changes: QueryChanges): QueryChanges {
  return Object.fromEntries(Object.entries(changes).map(([name, to]) => [prefix + name, to]));
}

/** Returns the path of one page of a list in the interface. */
export function pagePath(
  path: string,
  state: TableState,
  fixed: QueryChanges = {},
  limit: number | null = null,
): string {
  const { filters, sort, cursor } = state;
  return addQuery(path, { ...filters, sort, cursor, limit: limit?.toString() ?? null, ...fixed });
}

/** Returns the path of the export of all rows that the list shows. */
export function exportPath(path: string, state: TableState, fixed: QueryChanges = {}): string {
  return addQuery(path, { ...state.filters, sort: state.sort, ...fixed });
}

/** The order after a click on the heading of a column: its first order, then the reverse. */
export function nextSort(current: string, column: string, first: 'ascending' | 'descending') {
  const down = `-${column}`;
  if (current === column) return down;
  if (current === down) return column;
  return first === 'descending' ? down : column;
}

/** For `aria-sort`. */
export function sortDirection(
  current: string,
  column: string,
): 'ascending' | 'descending' | undefined {
  if (current === column) return 'ascending';
  return current === `-${column}` ? 'descending' : undefined;
}
