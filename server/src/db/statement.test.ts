import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Type } from 'typebox';

import { openTestPool } from '../../test/database-pool.ts';
import {
  Bytes,
  columnsOf,
  defineCommand,
  defineStatement,
  execute,
  queryRow,
  queryRows,
  Timestamp,
  toJsonRows,
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

  test('reads a field in camel case from its column in snake case', async () => {
    const row = Type.Object({ lastUsedAt: Type.Integer(), id: Type.Integer() });
    const text = `select ${columnsOf(row, 'used')} from (select 1 as id, 2 as last_used_at, 3 as more) as used`;
    assert.deepEqual(await queryRows(pool, defineStatement('test_fields', row, text)), [
      { lastUsedAt: 2, id: 1 },
    ]);
  });

  const mismatches: [what: string, sql: string, place: string][] = [
    ['another type', 'select 1 as name', '/name'],
    ['null in a column that is not nullable', 'select null::text as name', '/name'],
    ['a missing column', `select 'x' as title`, '/name'],
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

test('toJsonRows keeps values of each type for jsonb_populate_recordset', async () => {
  await pool.query(
    'create table kinds (sent_at timestamptz, key_hash bytea, scopes text[], size integer)',
  );
  const rows = [
    {
      sentAt: new Date('2027-01-01T00:00:00.123Z'),
      keyHash: Buffer.of(0, 255),
      scopes: ['a,"'],
      size: 1,
    },
    { sentAt: null, keyHash: Buffer.of(), scopes: [], size: 2 },
  ];
  const text = 'select * from jsonb_populate_recordset(null::kinds, $1::jsonb) order by size';
  const row = Type.Object({
    sentAt: Type.Unknown(),
    keyHash: Bytes,
    scopes: Type.Array(Type.String()),
    size: Type.Integer(),
  });
  assert.deepEqual(
    await queryRows(pool, defineStatement('test_json_rows', row, text), [toJsonRows(rows)]),
    rows,
  );
});
