import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Type } from 'typebox';

import { openTestPool } from '../../test/database-pool.ts';
import {
  Bytes,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
} from './statement.ts';

const pool = await openTestPool();

describe('queryRows', () => {
  test('returns counts as numbers, times as dates, bytes as buffers', async () => {
    const statement = defineStatement(
      'test_types',
      Type.Object({
        count: Type.Integer(),
        at: Timestamp,
        bytes: Bytes,
        list: Type.Array(Type.String()),
      }),
      `select count(*) as count, $1::timestamptz as at, $2::bytea as bytes, $3::text[] as list`,
    );
    const at = new Date('2027-01-01T00:00:00.123Z');
    const list = ['a', 'b "c"', '{d},\\'];
    const rows = await queryRows(pool, statement, [at, Buffer.of(0, 255), list]);
    assert.deepEqual(rows, [{ count: 1, at, bytes: Buffer.of(0, 255), list }]);
  });

  const mismatches: [what: string, sql: string, place: string][] = [
    ['another type', 'select 1 as name', '/name'],
    ['null in a column that is not nullable', 'select null::text as name', '/name'],
    ['a missing column', `select 'x' as title`, ''],
  ];
  for (const [what, sql, place] of mismatches) {
    test(`rejects a row of another shape, and names the statement and no value: ${what}`, async () => {
      const name = `test_mismatch_${what.replaceAll(' ', '_')}`;
      const statement = defineStatement(name, Type.Object({ name: Type.String() }), sql);
      await assert.rejects(queryRows(pool, statement), {
        message: `${name} returned a row of another shape, at ${place}`,
      });
    });
  }

  test('rejects a hundred rows of which one has another shape', async () => {
    const statement = defineStatement(
      'test_mismatch_of_one',
      Type.Object({ n: Type.Integer() }),
      'select nullif(n, 57) as n from generate_series(1, 100) as n',
    );
    await assert.rejects(
      queryRows(pool, statement),
      /test_mismatch_of_one returned a row .* at \/n/,
    );
  });
});

test('queryRow returns the row, or null if there is none', async () => {
  const statement = defineStatement(
    'test_one',
    Type.Object({ n: Type.Integer() }),
    'select n from generate_series(1, 5) as n where n = $1',
  );
  assert.deepEqual(await queryRow(pool, statement, [3]), { n: 3 });
  assert.equal(await queryRow(pool, statement, [6]), null);
});

test('execute returns the number of rows that it changed', async () => {
  await pool.query('create table touched (n integer)');
  const insert = defineCommand(
    'test_touch',
    'insert into touched select generate_series(1, $1::int)',
  );
  assert.equal(await execute(pool, insert, [7]), 7);
  assert.equal(await execute(pool, insert, [0]), 0);
});
