import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';
import { Type } from 'typebox';

import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { defineBoundedList, queryBoundedPage, type Filter } from './bounded-list.ts';
import { condition, InvalidPositionError, readAllPages, type ListPosition } from './list.ts';

const pool = await openTestPool();
const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 0 });

await pool.query(`create table bounded_items (id integer primary key, color text, size integer)`);

const items = defineBoundedList({
  name: 'test_bounded_items',
  row: Type.Object({ id: Type.Integer() }),
  columns: 'i.id',
  table: 'bounded_items',
  alias: 'i',
  key: 'i.id',
  id: { sql: 'i.id', type: 'integer' },
  sorts: { size: { sql: 'i.size', type: 'integer' } },
  limits: { candidates: 3, nearCandidates: 5, walked: 4 },
});

interface Item {
  readonly id: number;
  readonly color: string;
  readonly size: number;
}

async function fill(rows: readonly Item[]): Promise<void> {
  await pool.query('truncate bounded_items');
  await pool.query(
    `insert into bounded_items select * from jsonb_populate_recordset(null::bounded_items, $1)`,
    [JSON.stringify(rows)],
  );
}

/** The candidates of a color are exact; those of `not exact` include all items. */
const hasColor = (color: string, isExact: boolean): Filter => ({
  ...condition('color = ?', color),
  candidates: isExact
    ? condition('select id from bounded_items where color = ?', color)
    : condition('select id from bounded_items'),
  isExact,
});

/** In the order by size, it is part of the walk. */
const hasOrderedColor = (color: string): Filter => ({
  ...hasColor(color, true),
  ordered: { size: condition('i.color = ?', color) },
});

const isLarger = (size: number): Filter => {
  const larger = condition('i.size > ?::integer', size);
  return { ...larger, bounds: { size: larger } };
};

const someItems = fc.uniqueArray(
  fc.record({
    id: fc.integer({ min: 0, max: 99 }),
    color: fc.constantFrom('blue', 'red', 'green'),
    size: fc.integer({ min: 0, max: 9 }),
  }),
  { selector: ({ id }) => id, maxLength: 30 },
);

async function readPages(order: Order, limit: number, filters: readonly Filter[]) {
  const pages: number[][] = [];
  let after: ListPosition | null = null;
  do {
    const request = { ...order, after, limit };
    const page: Awaited<ReturnType<typeof queryBoundedPage<typeof items.row>>> =
      await queryBoundedPage(pool, items, request, filters);
    pages.push(page.rows.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  return pages;
}

type Order = { readonly sort: string; readonly descending: boolean };

test('the pages have each row that matches once, in order, by candidates as by walking', async () => {
  await fc.assert(
    fc.asyncProperty(
      someItems,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      fc.integer({ min: -1, max: 9 }),
      fc.integer({ min: 1, max: 3 }),
      async (rows, descending, isExact, isOrdered, size, limit) => {
        await fill(rows);
        const isRed = isOrdered ? hasOrderedColor('red') : hasColor('red', isExact);
        const filters = [isRed, isLarger(size)];
        const order = { sort: 'size', descending };
        const expected = rows
          .filter((row) => row.color === 'red' && row.size > size)
          .toSorted((a, b) => a.size - b.size || a.id - b.id)
          .map(({ id }) => id);
        if (descending) expected.reverse();
        assert.deepEqual((await readPages(order, limit, filters)).flat(), expected);
        const all: number[] = [];
        const pages = readAllPages(limiter, order, (request) =>
          queryBoundedPage(pool, items, request, filters),
        );
        for await (const { id } of pages) all.push(id);
        assert.deepEqual(all, expected);
      },
    ),
    { numRuns: 60 },
  );
});

const ascending = { sort: 'size', descending: false };
const ten = Array.from({ length: 10 }, (_, n) => ({
  id: n,
  size: n,
  color: n === 9 ? 'red' : 'blue',
}));

test('a page reads a limited number of rows, and can have none before the last one', async () => {
  await fill(ten);
  const isRed = condition(`color = 'red'`);
  assert.deepEqual(await readPages(ascending, 2, [isRed]), [[], [], [9]]);
  assert.deepEqual(await readPages(ascending, 2, []), [
    [0, 1],
    [2, 3],
    [4, 5],
    [6, 7],
    [8, 9],
  ]);
});

test('few candidates are found in one page, and a bound skips the rows before it', async () => {
  await fill(ten);
  assert.deepEqual(await readPages(ascending, 2, [hasColor('red', true)]), [[9]]);
  assert.deepEqual(await readPages(ascending, 2, [condition(`color = 'red'`), isLarger(6)]), [[9]]);
  const both = [hasColor('blue', true), hasColor('red', true)];
  assert.deepEqual(await readPages(ascending, 2, both), [[]]);
});

test('a walk in the index of one filter skips all rows without it', async () => {
  await fill(ten.map((row) => ({ ...row, color: row.size % 2 === 0 ? 'blue' : 'red' })));
  const isLarge = condition('size >= 7');
  assert.deepEqual(await readPages(ascending, 2, [hasOrderedColor('red'), isLarge]), [[7], [9]]);
});

test('more candidates are read if they are near each other', async () => {
  await fill(ten.map((row) => ({ ...row, color: row.size % 2 === 0 ? 'blue' : 'red' })));
  const isRed = hasColor('red', true);
  assert.deepEqual(await readPages(ascending, 5, [{ ...isRed, isNear: true }]), [[1, 3, 5, 7, 9]]);
  assert.deepEqual(await readPages(ascending, 5, [isRed]), [[1, 3], [5, 7], [9]]);
});

test('a position with a value of another type is refused as such', async () => {
  const request = { ...ascending, after: { value: 'x', id: '1' }, limit: 1 };
  for (const filter of [condition('true'), hasColor('red', true)]) {
    await assert.rejects(queryBoundedPage(pool, items, request, [filter]), InvalidPositionError);
  }
});
