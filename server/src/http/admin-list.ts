/** Lists of the operator interface: the query of a page, its cursor, and exports as CSV. */
import { Readable } from 'node:stream';

import { DEFAULT_LIST_LIMIT, MAX_LIST_LIMIT } from '@latchkey/contract';
import type { FastifyReply } from 'fastify';

import type { ListOrder, ListPosition, Page, PageRequest } from '#server/db/list.ts';
import { InvalidPositionError } from '#server/db/list.ts';
import { invalidRequest } from '#server/errors.ts';
import { formatCsvLines, type CsvColumns } from '#server/lib/csv.ts';
import { isRecord } from '#server/lib/unknown-values.ts';

/** The query of a list, as the contract's `listQuery` describes it. */
interface PageQuery {
  readonly sort?: string;
  readonly cursor?: string;
  readonly limit?: string;
}

const invalidCursor = () =>
  invalidRequest([
    {
      loc: ['query', 'cursor'],
      msg: 'The cursor is not one of this list in this order',
      type: 'cursor_invalid',
    },
  ]);

/** @param defaultSort the first of the sorts of `listQuery` */
export function readOrder({ sort }: PageQuery, defaultSort: string): ListOrder {
  const name = sort ?? defaultSort;
  return { sort: name.replace(/^-/, ''), descending: name.startsWith('-') };
}

/**
 * Reads which page a request asks for.
 * @throws invalidRequest (422) for a cursor or a limit that is not one
 */
export function readPageRequest(query: PageQuery, defaultSort: string): PageRequest {
  const order = readOrder(query, defaultSort);
  const after = query.cursor === undefined ? null : readCursor(query.cursor, order);
  return { ...order, after, limit: readLimit(query.limit) };
}

/**
 * Answers a page of a list.
 * @param read reads the page
 * @param view converts a row to the item of the answer
 */
export async function answerPage<Row, Item>(
  request: PageRequest,
  read: (request: PageRequest) => Promise<Page<Row>>,
  view: (row: Row) => Item,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  try {
    const { rows, next } = await read(request);
    return { items: rows.map(view), next_cursor: next && writeCursor(request, next) };
  } catch (error) {
    throw error instanceof InvalidPositionError ? invalidCursor() : error;
  }
}

/**
 * Answers all rows as a CSV file, as a stream, which is sent after the handler returned it.
 *
 * A list's export is an operation of its own, `GET <list>/export`, with the filters of the list: it needs a role and a fresh
 * proof that the list does not, and an audit entry of its own.
 * @param name the name of the file, without `.csv`
 */
export function answerCsv<Row>(
  reply: FastifyReply,
  name: string,
  columns: CsvColumns<Row>,
  rows: AsyncIterable<Row> | Iterable<Row>,
): Readable {
  void reply.type('text/csv; charset=utf-8').headers(fileHeaders(`${name}.csv`));
  return Readable.from(formatCsvLines(rows, columns));
}

/**
 * Answers a JSON file as a stream, which is sent after the handler returned it.
 * @param name the name of the file, without `.json`
 */
export function answerJsonFile(
  reply: FastifyReply,
  name: string,
  pieces: AsyncIterable<string>,
): Readable {
  void reply.type('application/json').headers(fileHeaders(`${name}.json`));
  return Readable.from(pieces);
}

function fileHeaders(name: string) {
  return { 'content-disposition': `attachment; filename="${name}"`, 'cache-control': 'no-store' };
}

/** Writes the position of a page as text, with its order. */
export function writeCursor({ sort, descending }: ListOrder, { value, id }: ListPosition): string {
  return Buffer.from(JSON.stringify({ sort, descending, value, id })).toString('base64url');
}

/** Reads the position of a page. @throws invalidRequest (422) for a text that is none of this order */
export function readCursor(cursor: string, order: ListOrder): ListPosition {
  const parsed = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (!isRecord(parsed)) throw invalidCursor();
  const { sort, descending, value, id } = parsed;
  if (sort !== order.sort || descending !== order.descending) throw invalidCursor();
  if (typeof value !== 'string' || typeof id !== 'string') throw invalidCursor();
  if (`${value}${id}`.includes('\0')) throw invalidCursor();
  return { value, id };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readLimit(limit = String(DEFAULT_LIST_LIMIT)): number {
  const number = /^\d{1,3}$/.test(limit) ? Number(limit) : 0;
  if (number >= 1 && number <= MAX_LIST_LIMIT) return number;
  const msg = `Input should be a whole number from 1 to ${MAX_LIST_LIMIT}`;
  throw invalidRequest([{ loc: ['query', 'limit'], msg, type: 'int_range' }]);
}
