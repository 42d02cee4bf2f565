import assert from 'node:assert/strict';
import { after, test, type TestContext } from 'node:test';

import type { Pool } from 'pg';

import { createTestDatabase } from '../../../test/database.ts';
import { startFakePostgres } from '../../../test/fake-postgres.ts';
import { isConnectionFailure } from '../database-errors.ts';
import { createPool, type DatabaseConnection } from '../pool.ts';
import { sendQuery, type Queryable } from '../send-query.ts';
import { ReportReader } from './report-reader.ts';

const database = await createTestDatabase();
after(() => database.drop());
const NAME = new URL(database.connection.url).pathname.slice(1);

function openPool(t: TestContext, target: DatabaseConnection = database.connection): Pool {
  const pool = createPool(target, { maxConnections: 2, log: { warn: () => {} } });
  t.after(() => pool.end());
  return pool;
}

/** Opens a reader with a clock of its own. */
function openReader(primary: Pool, replica: Pool) {
  const clock = { nowMs: 0 };
  const log = { info: () => {}, warn: () => {} };
  const nowMs = () => clock.nowMs;
  const reader = new ReportReader({ primary, replica, maxLagMs: 1_000, log, nowMs });
  return { reader, clock };
}

async function readDatabase(db: Queryable): Promise<unknown> {
  const { rows } = await sendQuery(db, { text: 'select current_database() as name' });
  return rows[0]?.['name'];
}

test('checks the connection that it reads from', async (t) => {
  const replica = openPool(t);
  let acquired = 0;
  replica.on('acquire', () => (acquired += 1));
  const { reader } = openReader(openPool(t), replica);
  for (const [read, count] of [
    [() => reader.read(readDatabase), 1],
    [() => reader.readComplete(readDatabase), 2],
  ] as const) {
    assert.equal(await read(), NAME);
    assert.equal(acquired, count);
  }
  assert.equal(replica.idleCount, 1);
});

test('tries an unusable replica again 30 s after the last attempt ended', async (t) => {
  let attempts = 0;
  const target = await startFakePostgres(t, (socket) => {
    attempts += 1;
    clock.nowMs += 5_000;
    socket.destroy();
  });
  const { reader, clock } = openReader(openPool(t), openPool(t, target));
  for (const [nowMs, expected] of [
    [0, 1],
    [34_999, 1],
    [35_000, 2],
  ] as const) {
    clock.nowMs = nowMs;
    assert.equal(await reader.readComplete(readDatabase), NAME);
    assert.equal(attempts, expected);
  }
});

test('reports a failure of the primary only to the report that met it', async (t) => {
  const primary = openPool(t, { url: 'postgres://127.0.0.1:1/none' });
  const { reader } = openReader(primary, openPool(t));
  await assert.rejects(reader.read(readDatabase), isConnectionFailure);
  Object.assign(primary.options, { connectionString: database.connection.url });
  assert.equal(await reader.read(readDatabase), NAME);
});
