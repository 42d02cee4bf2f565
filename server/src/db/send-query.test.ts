import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DatabaseError } from 'pg';

import { openTestPool } from '../../test/database-pool.ts';
import { isDatabaseTimeout, isDatabaseUnavailable } from './database-errors.ts';
import { sendArrayQuery, sendQuery } from './send-query.ts';

const pool = await openTestPool();

async function showBackend(): Promise<unknown> {
  return (await sendQuery(pool, { text: 'select pg_backend_pid() as pid' })).rows[0]?.['pid'];
}

test('returns rows as objects, or as arrays by the given types', async () => {
  const text = 'select 1 as a, $1::text as b';
  const { rows } = await sendQuery(pool, { text, values: ['x'] });
  assert.deepEqual(rows, [{ a: 1, b: 'x' }]);
  const types = { getTypeParser: () => String };
  const listed = await sendArrayQuery(pool, { text, values: ['x'], rowMode: 'array', types });
  assert.deepEqual(listed.rows, [['1', 'x']]);
});

test('keeps the connection of a rejected query', async () => {
  const before = await showBackend();
  await assert.rejects(sendQuery(pool, { text: 'select 1/0' }), DatabaseError);
  assert.equal(await showBackend(), before);
});

test('rejects a query that times out, and discards its connection', async () => {
  const before = await showBackend();
  await assert.rejects(sendQuery(pool, { text: 'select pg_sleep(30)' }, 100), (error) => {
    assert.ok(error instanceof Error);
    assert.equal(error.message, 'Query read timeout');
    assert.ok(isDatabaseTimeout(error) && isDatabaseUnavailable(error));
    return true;
  });
  assert.notEqual(await showBackend(), before);
});

test('discards a connection that the server closes', async () => {
  const one = await openTestPool({ maxConnections: 1 });
  const { rows } = await sendQuery(one, { text: 'select pg_backend_pid() as pid' });
  const refusal = assert.rejects(sendQuery(one, { text: 'select pg_sleep(30)' }), DatabaseError);
  const next = sendQuery(one, { text: 'select 1 as a' });
  await sendQuery(pool, {
    text: 'select pg_terminate_backend($1::integer)',
    values: [rows[0]?.['pid']],
  });
  await refusal;
  assert.deepEqual((await next).rows, [{ a: 1 }]);
});

test('discards a connection whose server does not accept writes any more', async () => {
  const before = await showBackend();
  const write = sendQuery(pool, { text: 'begin read only; create table refused (id integer)' });
  await assert.rejects(write, (error) => {
    assert.ok(error instanceof DatabaseError && isDatabaseUnavailable(error));
    assert.equal(error.code, '25006');
    return true;
  });
  assert.notEqual(await showBackend(), before);
});
