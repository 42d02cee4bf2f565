import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { runMigrations } from 'graphile-worker';

import { StartupError } from '#server/config/startup-error.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { JOB_SCHEMA_REVISION, lacksJobSchema } from './job-schema.ts';
import { lacksMigrations, listPendingMigrations, migrate } from './migrate.ts';

const pool = await openTestPool();

async function listRevisions() {
  const { rows } = await pool.query(
    'select id, breaking from graphile_worker.migrations order by id',
  );
  return rows;
}

beforeEach(async () => {
  await pool.query('drop schema if exists graphile_worker cascade');
});

test('the schema of jobs comes with the migrations, and counts among what is pending', async () => {
  assert.deepEqual(await listPendingMigrations(pool), ['jobs']);
  assert.equal(await lacksMigrations(pool), true);
  assert.deepEqual(await migrate(pool), ['jobs']);
  assert.deepEqual(await listPendingMigrations(pool), []);
  assert.equal(await lacksMigrations(pool), false);
  assert.deepEqual(await migrate(pool), []);
});

test('what is installed is what the package itself installs, and leaves it nothing to do', async () => {
  await migrate(pool);
  const ours = await listRevisions();
  assert.equal(ours.length, JOB_SCHEMA_REVISION);
  await runMigrations({ pgPool: pool });
  assert.deepEqual(await listRevisions(), ours);

  await pool.query('drop schema graphile_worker cascade');
  await runMigrations({ pgPool: pool });
  assert.deepEqual(await listRevisions(), ours);
  assert.deepEqual(await migrate(pool), []);
});

test('two nodes that start at once install it once', async () => {
  const results = await Promise.all([migrate(pool), migrate(pool)]);
  assert.deepEqual(results.flat(), ['jobs']);
  assert.equal(await lacksJobSchema(pool), false);
});

test('a schema that only a newer version can work with stops the start; one that both can does not', async () => {
  await migrate(pool);
  await pool.query('insert into graphile_worker.migrations (id, breaking) values (900, false)');
  assert.deepEqual(await migrate(pool), []);
  await pool.query('insert into graphile_worker.migrations (id, breaking) values (901, true)');
  await assert.rejects(migrate(pool), StartupError);
});
