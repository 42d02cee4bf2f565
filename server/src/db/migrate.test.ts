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

function isProblem(sentence: string) {
  return (error: unknown) => {
    assert.ok(error instanceof StartupError);
    assert.deepEqual(error.problems, [sentence]);
    return true;
  };
}

describe('migrate', () => {
  beforeEach(async () => {
    await pool.query(
      'drop schema public cascade; drop schema if exists graphile_worker cascade; create schema public',
    );
  });

  test('applies every migration to an empty database, in order and once', async () => {
    const pending = await listPendingMigrations(pool);
    assert.deepEqual(pending, pending.toSorted());
    assert.equal(pending[0], '0001_schema');
    assert.deepEqual(await listTables(), []);
    assert.deepEqual(await migrate(pool), pending);
    assert.deepEqual(await listPendingMigrations(pool), []);
    const tables = await listTables();
    assert.ok(tables.includes('licenses') && tables.includes('schema_migrations'));
    assert.deepEqual(await migrate(pool), []);
    assert.deepEqual(await listTables(), tables);
  });

  test('rejects a database whose migration was changed after it was applied', async () => {
    await migrate(pool);
    await pool.query(`update schema_migrations set checksum = 'other' where name = '0001_schema'`);
    const changed = isProblem(
      'Migration 0001_schema was changed after this database applied it. Restore the file as it was released.',
    );
    await assert.rejects(migrate(pool), changed);
    await assert.rejects(listPendingMigrations(pool), changed);
  });

  test('rejects a database that a newer version migrated', async () => {
    await migrate(pool);
    await pool.query(`insert into schema_migrations (name, checksum) values ('9999_future', 'x')`);
    const newer = isProblem(
      'The database has migration 9999_future, which this program does not know: it belongs to a newer version. Start that version.',
    );
    await assert.rejects(migrate(pool), newer);
  });

  test('rejects a database of a development build from before the first release, and leaves it unchanged', async () => {
    await pool.query(
      'create table schema_migrations (name text primary key, checksum text, applied_at timestamptz)',
    );
    await pool.query(
      `insert into schema_migrations (name, checksum) values ('0001_licensing', 'x'), ('0028_customer_precision', 'y')`,
    );
    const development = isProblem(
      'This database was created by a development build of Latchkey from before the first release and cannot be migrated: start with an empty database (DATABASE_URL) or an empty data directory (LATCHKEY_DATA_DIR).',
    );
    await assert.rejects(migrate(pool), development);
    await assert.rejects(listPendingMigrations(pool), development);
    assert.equal(await lacksMigrations(pool), true);
    assert.deepEqual(await listTables(), ['schema_migrations']);
  });

  test('lacksMigrations ignores migrations of newer versions, and reports a missing one of its own', async () => {
    await migrate(pool);
    await pool.query(`insert into schema_migrations (name, checksum) values ('9999_future', 'x')`);
    assert.equal(await lacksMigrations(pool), false);
    await pool.query(`delete from schema_migrations where name = '0001_schema'`);
    assert.equal(await lacksMigrations(pool), true);
  });

  test('rolls a failed migration back, and applies it once the cause is fixed', async () => {
    await pool.query('create table licenses (in_the_way integer)');
    await assert.rejects(migrate(pool), /"licenses" already exists/);
    assert.deepEqual(await listTables(), ['licenses']);
    await pool.query('drop table licenses');
    assert.ok((await migrate(pool)).includes('0001_schema'));
  });

  test('releases the lock after a failure', async () => {
    await pool.query('create table licenses (in_the_way integer)');
    await assert.rejects(migrate(pool));
    const { rows } = await pool.query(`select count(*) from pg_locks where locktype = 'advisory'`);
    assert.deepEqual(rows, [{ count: 0 }]);
  });
});
