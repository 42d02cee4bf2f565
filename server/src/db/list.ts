/** Lists for operators: filtered, sorted and paged in SQL by keyset, so that the last page costs as much as the first. */
import { DatabaseError, type Pool } from 'pg';
import { Type, type Static, type TObject } from 'typebox';

import type { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { sendQuery } from './send-query.ts';
import { defineStatement, parseRow, type Parameter, type Queryable } from './statement.ts';

/** An SQL expression to sort by. It must not be null: `coalesce(expires_at, 'infinity')`. */
export interface SortExpression {
  readonly sql: string;
  /** Its type, such as `timestamptz`. */
  readonly type: string;
}

/** A list: `select <columns> from <from> where <conditions> order by <sort>, <id>`. */
export interface List<Row extends TObject> {
  /** Precedes the text of the statement as a comment, for pg_stat_statements and slow logs. */
  readonly name: string;
  readonly row: Row;
  /** The list of the `select`; see `columnsOf`. */
  readonly columns: string;
  /** Tables and joins. */
  readonly from: string;
  /** A unique expression, which decides between rows of the same sort value. */
  readonly id: SortExpression;
  readonly sorts: Readonly<Record<string, SortExpression>>;
}

/** A condition of a list, such as `l.product_id = ?`; each `?` is one of the parameters, in their order. */
export interface Condition {
  readonly sql: string;
  readonly parameters: readonly Parameter[];
}

/** The place of a row in a list: its sort value and its id, as PostgreSQL prints them. */
export interface ListPosition {
  readonly value: string;
  readonly id: string;
}

/** The dependencies of reading a list to its end. */
export interface PageReader {
  readonly pool: Pool;
  readonly databaseLimiter: Pick<ConcurrencyLimiter, 'run'>;
}

/** Which rows of a list, in which order. */
export interface ListOrder {
  /** A key of {@link List.sorts}. */
  readonly sort: string;
  readonly descending: boolean;
}

/** One page of a list. */
export interface PageRequest extends ListOrder {
  /** The last row of the page before; null: the first page. */
  readonly after: ListPosition | null;
  readonly limit: number;
}

export interface Page<Row> {
  readonly rows: readonly Row[];
  /** The `after` of the next page; null on the last page. */
  readonly next: ListPosition | null;
}

/** A position that is not one of the list, such as a sort value of another type. */
export class InvalidPositionError extends Error {}

/** Data exceptions (SQLSTATE class 22): a parameter does not have the form of its type. */
const DATA_EXCEPTION = /^22/;

const EXPORT_PAGE_ROWS = 1_000;

const PositionRow = Type.Object({ listValue: Type.String(), listId: Type.String() });

/** Returns a condition. @param sql with a `?` for each parameter */
export function condition(sql: string, ...parameters: readonly Parameter[]): Condition {
  return { sql, parameters };
}

/** Prepares a list for {@link queryPage}. */
export function defineList<Row extends TObject>(list: List<Row>): DefinedList<Row> {
  return {
    ...list,
    shape: defineStatement(list.name, list.row, ''),
    position: defineStatement(list.name, PositionRow, ''),
  };
}

interface PreparedList<Row extends TObject> {
  readonly shape: ReturnType<typeof defineStatement<Row>>;
  readonly position: ReturnType<typeof defineStatement<typeof PositionRow>>;
}

/** A list that {@link defineList} returned. */
export type DefinedList<Row extends TObject> = List<Row> & PreparedList<Row>;

/**
 * Reads one page of a list. The statement is not prepared: PostgreSQL plans it for the filters of this call, and another
 * filter needs another index.
 * @param conditions all must hold
 * @param source instead of `list.from`
 * @throws InvalidPositionError
 */
export async function queryPage<Row extends TObject>(
  db: Queryable,
  list: DefinedList<Row>,
  request: PageRequest,
  conditions: readonly Condition[] = [],
  source = condition(list.from),
): Promise<Page<Static<Row>>> {
  const query = renderQuery(list, request, conditions, source);
  const raw = await sendQuery(db, query).then(({ rows }) => rows, explainPosition(request));
  const last = raw.length > request.limit ? raw[request.limit - 1] : undefined;
  const position = last === undefined ? null : parseRow(list.position, last);
  return {
    rows: raw.slice(0, request.limit).map((row) => parseRow(list.shape, row)),
    next: position === null ? null : { value: position.listValue, id: position.listId },
  };
}

/**
 * Reads all pages in their order, so that memory and transactions stay small. Each takes a slot of the limiter, so that none is held while the receiver of the rows
 * reads slowly.
 * @param read reads one page
 */
export async function* readAllPages<Row>(
  databaseLimiter: PageReader['databaseLimiter'],
  order: ListOrder,
  read: (request: PageRequest) => Promise<Page<Row>>,
): AsyncGenerator<Row> {
  let after: ListPosition | null = null;
  do {
    const request = { ...order, after, limit: EXPORT_PAGE_ROWS };
    const page: Page<Row> = await databaseLimiter.run(() => read(request));
    yield* page.rows;
    after = page.next;
  } while (after !== null);
}

function explainPosition({ after }: PageRequest): (error: unknown) => never {
  return (error) => {
    const isData = error instanceof DatabaseError && DATA_EXCEPTION.test(error.code ?? '');
    throw isData && after !== null ? new InvalidPositionError('', { cause: error }) : error;
  };
}

function renderQuery<Row extends TObject>(
  list: List<Row>,
  request: PageRequest,
  conditions: readonly Condition[],
  source: Condition,
): { readonly text: string; readonly values: Parameter[] } {
  const by = sortOf(list, request);
  const select = `/* ${list.name} */
    select ${list.columns}, (${by.sql})::text as list_value, (${list.id.sql})::text as list_id`;
  const ordered = renderOrdered(list, request, conditions);
  const parameters = [...source.parameters, ...ordered.parameters];
  const { text, values } = bind(condition(`${source.sql} ${ordered.sql}`, ...parameters));
  return { text: `${select} from ${text} limit ${request.limit + 1}`, values };
}

/** Returns the expression of an order. */
export function sortOf({ name, sorts }: Pick<List<TObject>, 'name' | 'sorts'>, order: ListOrder) {
  const by = sorts[order.sort];
  if (by === undefined) throw new Error(`${name} has no order ${order.sort}`);
  return by;
}

/** Returns `where … order by …` for the rows after a position. */
export function renderOrdered(
  list: Pick<List<TObject>, 'id' | 'name' | 'sorts'>,
  request: Omit<PageRequest, 'limit'>,
  conditions: readonly Condition[],
): Condition {
  const { after, descending } = request;
  const by = sortOf(list, request);
  const { id } = list;
  const all = [...conditions, ...(after === null ? [] : [isAfter(by, id, after, descending)])];
  const where = all.map(({ sql }) => `(${sql})`).join(' and ');
  const direction = descending ? 'desc' : 'asc';
  return condition(
    `${where === '' ? '' : `where ${where}`} order by ${by.sql} ${direction}, ${id.sql} ${direction}`,
    ...all.flatMap(({ parameters }) => parameters),
  );
}

/** Returns a query with numbered parameters. @param query with a `?` for each parameter */
export function bind({ sql, parameters }: Condition): {
  readonly text: string;
  readonly values: Parameter[];
} {
  let number = 0;
  return { text: sql.replaceAll('?', () => `$${(number += 1)}`), values: [...parameters] };
}

/** A comparison of rows, which PostgreSQL answers from an index of both expressions. */
function isAfter(
  by: SortExpression,
  id: SortExpression,
  { value, id: lastId }: ListPosition,
  descending: boolean,
): Condition {
  const operator = descending ? '<' : '>';
  return condition(
    `(${by.sql}, ${id.sql}) ${operator} (?::${by.type}, ?::${id.type})`,
    value,
    lastId,
  );
}
