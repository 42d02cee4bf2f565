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
  test('rows come as declared: counts as numbers, times as dates, bytes as buffers', async () => {
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

  const drifts: [what: string, sql: string, place: string][] = [
    ['another type', 'select 1 as name', '/name'],
    ['null where none is declared', 'select null::text as name', '/name'],
    ['a column that is gone', `select 'x' as title`, ''],
  ];
  for (const [what, sql, place] of drifts) {
    test(`a row that has drifted is an error, which names the statement and shows no value: ${what}`, async () => {
      const name = `test_drift_${what.replaceAll(' ', '_')}`;
      const statement = defineStatement(name, Type.Object({ name: Type.String() }), sql);
      await assert.rejects(queryRows(pool, statement), {
        message: `${name} gave a row of another shape, at ${place}`,
      });
    });
  }

  test('one row in a hundred that has drifted is enough', async () => {
    const statement = defineStatement(
      'test_drift_of_one',
      Type.Object({ n: Type.Integer() }),
      'select nullif(n, 57) as n from generate_series(1, 100) as n',
    );
    await assert.rejects(queryRows(pool, statement), /test_drift_of_one gave a row .* at \/n/);
  });
});

test('queryRow gives the row, or null when there is none', async () => {
  const statement = defineStatement(
    'test_one',
    Type.Object({ n: Type.Integer() }),
    'select n from generate_series(1, 5) as n where n = $1',
  );
  assert.deepEqual(await queryRow(pool, statement, [3]), { n: 3 });
  assert.equal(await queryRow(pool, statement, [6]), null);
});

test('execute gives the number of rows that it touched', async () => {
  await pool.query('create table touched (n integer)');
  const insert = defineCommand(
    'test_touch',
    'insert into touched select generate_series(1, $1::int)',
  );
  assert.equal(await execute(pool, insert, [7]), 7);
  assert.equal(await execute(pool, insert, [0]), 0);
});
