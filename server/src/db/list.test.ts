import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';
import { Type } from 'typebox';

import { ConcurrencyLimiter } from '#server/lib/concurrency-limiter.ts';

import { openTestPool } from '../../test/database-pool.ts';
import {
  condition,
  defineList,
  InvalidPositionError,
  queryPage,
  readAllPages,
  type ListPosition,
  type PageRequest,
} from './list.ts';
import { Timestamp } from './statement.ts';

const pool = await openTestPool();

await pool.query(`create table list_items (id integer primary key, color text, at timestamptz)`);

const items = defineList({
  name: 'test_items',
  row: Type.Object({ id: Type.Integer(), at: Timestamp }),
  columns: 'i.id, i.at',
  from: 'list_items i',
  id: { sql: 'i.id', type: 'integer' },
  sorts: {
    at: { sql: 'i.at', type: 'timestamptz' },
    color: { sql: `coalesce(i.color, '')`, type: 'text' },
  },
});

interface Item {
  readonly id: number;
  readonly color: string | null;
  readonly at: Date;
}

async function fill(rows: readonly Item[]): Promise<void> {
  await pool.query('truncate list_items');
  await pool.query(
    `insert into list_items select * from jsonb_populate_recordset(null::list_items, $1)`,
    [JSON.stringify(rows)],
  );
}

function sortItems(rows: readonly Item[], sort: string, descending: boolean): number[] {
  const sorted = rows.toSorted((a, b) => {
    const bySort =
      sort === 'at' ? a.at.getTime() - b.at.getTime() : compare(a.color ?? '', b.color ?? '');
    return bySort === 0 ? a.id - b.id : bySort;
  });
  return (descending ? sorted.reverse() : sorted).map(({ id }) => id);
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

const someItems = fc
  .uniqueArray(
    fc.record({
      id: fc.integer({ min: 0, max: 99 }),
      color: fc.constantFrom(null, 'blue', 'red'),
      at: fc.constantFrom(new Date('2026-01-01T00:00:00.123Z'), new Date('2026-01-02T00:00:00Z')),
    }),
    { selector: ({ id }) => id },
  )
  .filter(({ length }) => length > 0);

test('the pages of a list have each row once, in its order, whatever the size of a page', async () => {
  await fc.assert(
    fc.asyncProperty(
      someItems,
      fc.constantFrom('at', 'color'),
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      async (rows, sort, descending, limit) => {
        await fill(rows);
        const found: number[] = [];
        let after: ListPosition | null = null;
        do {
          const request = { sort, descending, after, limit };
          const page: Awaited<ReturnType<typeof queryPage<typeof items.row>>> = await queryPage(
            pool,
            items,
            request,
          );
          found.push(...page.rows.map(({ id }) => id));
          after = page.next;
        } while (after !== null);
        assert.deepEqual(found, sortItems(rows, sort, descending));
      },
    ),
    { numRuns: 30 },
  );
});

test('conditions apply together, and their values are parameters', async () => {
  const at = new Date('2026-01-01T00:00:00Z');
  await fill([
    { id: 1, color: 'red', at },
    { id: 2, color: 'blue', at },
    { id: 3, color: `'; drop table list_items; --`, at },
  ]);
  const request = { sort: 'at', descending: false, after: null, limit: 10 };
  const read = async (...conditions: Parameters<typeof queryPage>[3] & object) => {
    const { rows } = await queryPage(pool, items, request, conditions);
    return rows.map(({ id }) => id);
  };
  assert.deepEqual(await read(condition('i.color = ? or i.id = ?', 'red', 2)), [1, 2]);
  assert.deepEqual(await read(condition('i.color = ?', 'red'), condition('i.id = ?', 2)), []);
  assert.deepEqual(await read(condition('i.color = ?', `'; drop table list_items; --`)), [3]);
});

test('a position with a value of another type is refused as such', async () => {
  const request = { sort: 'at', descending: true, after: { value: 'x', id: '1' }, limit: 1 };
  await assert.rejects(queryPage(pool, items, request), InvalidPositionError);
});

test('reads all rows across the pages of an export, and holds no slot between them', async () => {
  await pool.query(
    `truncate list_items; insert into list_items select n, null, '2026-01-01' from generate_series(1, 2500) n`,
  );
  const limiter = new ConcurrencyLimiter({ limit: 1, maxQueued: 0 });
  let pages = 0;
  const databaseLimiter = {
    run<Result>(read: () => Promise<Result>): Promise<Result> {
      pages += 1;
      return limiter.run(read);
    },
  };
  const order = { sort: 'color', descending: false };
  const read = (request: PageRequest) => queryPage(pool, items, request);
  let count = 0;
  for await (const { id } of readAllPages(databaseLimiter, order, read)) {
    count += 1;
    assert.equal(id, count);
    assert.equal(limiter.running, 0);
  }
  assert.deepEqual([count, pages], [2500, 3]);
});
