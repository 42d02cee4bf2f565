import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { StartupError } from '#server/config/startup-error.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { lacksMigrations, listPendingMigrations, migrate } from './migrate.ts';

const pool = await openTestPool();

async function listTables(): Promise<string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' order by 1`,
  );
  return rows.map(({ name }) => name);
}

function isProblem(pattern: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof StartupError);
    assert.equal(error.problems.length, 1);
    assert.match(error.problems[0] ?? '', pattern);
    return true;
  };
}

describe('migrate', () => {
  beforeEach(async () => {
    await pool.query(
      'drop schema public cascade; drop schema if exists graphile_worker cascade; create schema public',
    );
  });

  test('an empty database gets every migration, in order; a second time there is nothing to do', async () => {
    const pending = await listPendingMigrations(pool);
    assert.deepEqual(pending, pending.toSorted());
    assert.equal(pending[0], '0001_licensing');
    assert.deepEqual(await listTables(), []);
    assert.deepEqual(await migrate(pool), pending);
    assert.deepEqual(await listPendingMigrations(pool), []);
    const tables = await listTables();
    assert.ok(tables.includes('licenses') && tables.includes('schema_migrations'));
    assert.deepEqual(await migrate(pool), []);
    assert.deepEqual(await listTables(), tables);
  });

  test('a migration that was changed after it was applied stops the start', async () => {
    await migrate(pool);
    await pool.query(
      `update schema_migrations set checksum = 'other' where name = '0001_licensing'`,
    );
    const changed = isProblem(/^Migration 0001_licensing was changed after/);
    await assert.rejects(migrate(pool), changed);
    await assert.rejects(listPendingMigrations(pool), changed);
  });

  test('a database that a newer version migrated stops the start', async () => {
    await migrate(pool);
    await pool.query(`insert into schema_migrations (name, checksum) values ('9999_future', 'x')`);
    const newer = isProblem(/9999_future, which this program does not know.*newer version/);
    await assert.rejects(migrate(pool), newer);
  });

  test('a process that runs already serves on while a newer version migrates, and not without what it needs', async () => {
    await migrate(pool);
    await pool.query(`insert into schema_migrations (name, checksum) values ('9999_future', 'x')`);
    assert.equal(await lacksMigrations(pool), false);
    await pool.query(`delete from schema_migrations where name = '0001_licensing'`);
    assert.equal(await lacksMigrations(pool), true);
  });

  test('a migration that fails leaves nothing behind, and succeeds once its cause is gone', async () => {
    await pool.query('create table licenses (in_the_way integer)');
    await assert.rejects(migrate(pool), /"licenses" already exists/);
    assert.deepEqual(await listTables(), ['licenses']);
    await pool.query('drop table licenses');
    assert.ok((await migrate(pool)).includes('0001_licensing'));
  });

  test('the lock is given back: another connection can migrate after a failure', async () => {
    await pool.query('create table licenses (in_the_way integer)');
    await assert.rejects(migrate(pool));
    const { rows } = await pool.query(`select count(*) from pg_locks where locktype = 'advisory'`);
    assert.deepEqual(rows, [{ count: 0 }]);
  });
});
