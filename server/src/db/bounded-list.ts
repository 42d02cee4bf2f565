/**
 * Lists of very many rows, by any combination of filters: the rows that a page reads are limited, however few match. No index
 * can serve each combination of filters and orders. See docs/decisions/0038-bounded-lists.md.
 */
import { Type, type Static, type TObject } from 'typebox';

import {
  bind,
  condition,
  defineList,
  queryPage,
  renderOrdered,
  sortOf,
  type Condition,
  type DefinedList,
  type List,
  type ListPosition,
  type Page,
  type PageRequest,
} from './list.ts';
import { sendQuery } from './send-query.ts';
import { defineStatement, parseRow, type Queryable } from './statement.ts';

/** A list whose rows are those of one table. */
interface BoundedListOptions<Row extends TObject> extends Omit<List<Row>, 'from'> {
  /** With an index for each order. */
  readonly table: string;
  readonly alias: string;
  /** Of further tables, at most one row for each of `table`. */
  readonly joins?: string;
  /** The expression that candidates are values of. */
  readonly key: string;
  /** Default: {@link LIMITS}. */
  readonly limits?: BoundedListLimits;
}

interface BoundedListLimits {
  /** The maximum number of rows read and sorted for the most selective filter. */
  readonly candidates: number;
  /** The maximum if these rows are near each other in the table. */
  readonly nearCandidates: number;
  /** The maximum number of rows read in the order of the list, if every filter has more matches. */
  readonly walked: number;
}

/**
 * Candidates are all over the table, and each can be a page of the disk; the rows of a walk are often beside each other. Of a
 * million rows, a filter with more candidates has at least some 20 matches among the rows walked.
 */
const LIMITS: BoundedListLimits = { candidates: 2_000, nearCandidates: 10_000, walked: 10_000 };

/** A list for {@link queryBoundedPage}. */
export interface BoundedList<Row extends TObject> extends DefinedList<Row> {
  readonly options: BoundedListOptions<Row>;
}

/** A condition of a bounded list, and how to find its rows without reading others. */
export interface Filter extends Condition {
  /** A query for the keys of all rows that match and perhaps of others, in the order of one index. */
  readonly candidates?: Condition;
  /** Whether the candidates are exactly the rows that match. */
  readonly isExact?: boolean;
  /** Whether the candidates are near each other in the table. */
  readonly isNear?: boolean;
  /** By order: the part of the condition for which there is an index in this order, so that a walk skips other rows. */
  readonly ordered?: Readonly<Record<string, Condition>>;
  /** By order: what the condition implies for the expression of the order, so that a walk begins or ends there. */
  readonly bounds?: Readonly<Record<string, Condition>>;
}

/** Prepares a list for {@link queryBoundedPage}. */
export function defineBoundedList<Row extends TObject>(
  options: BoundedListOptions<Row>,
): BoundedList<Row> {
  const from = `${options.table} ${options.alias} ${options.joins ?? ''}`;
  return { ...defineList({ ...options, from }), options };
}

/**
 * Reads one page of a list. If a filter has few candidates, all of them are read and sorted. Otherwise the table, or an index
 * of one filter, is walked in the order of the list up to a limit: then a page can have fewer rows than requested, or none,
 * and a next page.
 * @param filters all must hold
 * @throws InvalidPositionError
 */
export async function queryBoundedPage<Row extends TObject>(
  db: Queryable,
  list: BoundedList<Row>,
  request: PageRequest,
  filters: readonly Filter[],
): Promise<Page<Static<Row>>> {
  if (filters.length === 0) return queryPage(db, list, request);
  const selective = await findSelective(db, list, filters);
  const ordered = (selective === null ? filters : [selective]).flatMap(
    (filter) => filter.ordered?.[request.sort] ?? [],
  );
  if (selective === null || ordered.length > 0) {
    return walk(db, list, request, filters, ordered.slice(0, 1));
  }
  const others = filters.filter((each) => each !== selective || selective.isExact !== true);
  const { parameters, sql } = selective.candidates;
  const isCandidate = condition(`${list.options.key} = any (array(${sql}))`, ...parameters);
  return queryPage(db, list, request, [...others, isCandidate]);
}

type SelectiveFilter = Filter & { readonly candidates: Condition };

const hasCandidates = (filter: Filter): filter is SelectiveFilter =>
  filter.candidates !== undefined;

const CountsRow = Type.Object({ counts: Type.Array(Type.Integer()) });

/** Returns the filter with the fewest candidates; null if each has more than the limit. */
async function findSelective<Row extends TObject>(
  db: Queryable,
  { name, options }: BoundedList<Row>,
  filters: readonly Filter[],
): Promise<SelectiveFilter | null> {
  const { candidates, nearCandidates } = options.limits ?? LIMITS;
  const limitOf = ({ isNear = false }: Filter): number => (isNear ? nearCandidates : candidates);
  const all = filters.filter(hasCandidates);
  if (all.length === 0) return null;
  const counts = all.map(
    (filter) =>
      `(select count(*)::int from (${filter.candidates.sql} limit ${limitOf(filter) + 1}) as found)`,
  );
  const text = `/* ${name}_count_candidates */ select array[${counts.join(', ')}] as counts`;
  const values = all.flatMap((filter) => filter.candidates.parameters);
  const { rows } = await sendQuery(db, bind(condition(text, ...values)));
  const found = parseRow(defineStatement(name, CountsRow, ''), rows[0] ?? {}).counts;
  const few = all
    .map((filter, index) => ({ filter, count: found[index] ?? 0 }))
    .filter(({ count, filter }) => count <= limitOf(filter))
    .toSorted((a, b) => a.count - b.count);
  return few[0]?.filter ?? null;
}

async function walk<Row extends TObject>(
  db: Queryable,
  list: BoundedList<Row>,
  request: PageRequest,
  filters: readonly Filter[],
  ordered: readonly Condition[],
): Promise<Page<Static<Row>>> {
  const { alias, joins = '', limits = LIMITS, table } = list.options;
  const bounds = filters.flatMap((filter) => filter.bounds?.[request.sort] ?? []);
  const { parameters, sql } = renderOrdered(list, request, [...bounds, ...ordered]);
  const walked = condition(`from ${table} ${alias} ${sql} limit ${limits.walked}`, ...parameters);
  const source = condition(`(select * ${walked.sql}) as ${alias} ${joins}`, ...parameters);
  const page = await queryPage(db, list, request, filters, source);
  if (page.next !== null) return page;
  return { rows: page.rows, next: await findEnd(db, list, request, walked) };
}

/** Returns the position of the last row of a walk; null if the walk reached the end of the table. */
async function findEnd<Row extends TObject>(
  db: Queryable,
  list: BoundedList<Row>,
  request: PageRequest,
  walked: Condition,
): Promise<ListPosition | null> {
  const { alias, limits = LIMITS } = list.options;
  const query = `/* ${list.name}_find_end */
    select (${sortOf(list, request).sql})::text as list_value, (${list.id.sql})::text as list_id
    from (select * ${walked.sql}) as ${alias} offset ${limits.walked - 1}`;
  const { rows } = await sendQuery(db, bind(condition(query, ...walked.parameters)));
  const last = rows[0] === undefined ? null : parseRow(list.position, rows[0]);
  return last === null ? null : { value: last.listValue, id: last.listId };
}
