import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import type { Pool } from 'pg';

import { StartupError } from '#server/config/startup-error.ts';

import { openTestPool } from '../../test/database-pool.ts';
import { spreadsTables } from '../../test/test-cluster.ts';
import { lacksMigrations, listPendingMigrations, migrate } from './migrate.ts';

async function listTables(pool: Pool): Promise<string[]> {
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

describe('on an empty database', { skip: spreadsTables }, async () => {
  const pool = await openTestPool();

  beforeEach(async () => {
    await pool.query('drop schema public cascade; create schema public');
  });

  test('applies every migration, in order and once', async () => {
    const pending = await listPendingMigrations(pool);
    assert.equal(pending[0], '0001_schema');
    assert.deepEqual(await listTables(pool), []);
    assert.deepEqual(await migrate(pool), pending);
    assert.deepEqual(await listPendingMigrations(pool), []);
    const tables = await listTables(pool);
    assert.ok(tables.includes('licenses') && tables.includes('schema_migrations'));
    assert.deepEqual(await migrate(pool), []);
    assert.deepEqual(await listTables(pool), tables);
  });

  test('applies later migrations, in order and once in concurrent processes', async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-migrations-'));
    t.after(() => rm(directory, { recursive: true }));
    const files = {
      '0010_third.sql': `insert into steps values (3)`,
      '0001_first.sql': 'create table steps (n integer)',
      '0002_second.sql': `insert into steps select 2 from steps having count(*) = 0`,
    };
    for (const [name, sql] of Object.entries(files)) await writeFile(join(directory, name), sql);
    const url = pathToFileURL(`${directory}/`);
    const applied = await Promise.all([1, 2, 3].map(() => migrate(pool, url)));
    assert.deepEqual(applied.flat().toSorted(), ['0001_first', '0002_second', '0010_third']);
    const { rows } = await pool.query('select n from steps order by n');
    assert.deepEqual(rows, [{ n: 2 }, { n: 3 }]);
  });

  test('rolls a failed migration back, releases the lock, and succeeds once the cause is fixed', async () => {
    await pool.query('create table licenses (in_the_way integer)');
    await assert.rejects(migrate(pool), /"licenses" already exists/);
    assert.deepEqual(await listTables(pool), ['licenses']);
    const locks = await pool.query(
      `select from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
    );
    assert.equal(locks.rowCount, 0);
    await pool.query('drop table licenses');
    assert.ok((await migrate(pool)).includes('0001_schema'));
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
    assert.deepEqual(await listTables(pool), ['schema_migrations']);
  });
});

test('rejects a database whose migration was changed after it was applied', async () => {
  const pool = await openTestPool();
  await pool.query(`update schema_migrations set checksum = 'other' where name = '0001_schema'`);
  const changed = isProblem(
    'Migration 0001_schema was changed after this database applied it. Restore the file as it was released.',
  );
  await assert.rejects(migrate(pool), changed);
  await assert.rejects(listPendingMigrations(pool), changed);
});

test('rejects a database of a newer version, on which an older process continues', async () => {
  const pool = await openTestPool();
  await pool.query(`insert into schema_migrations (name, checksum) values ('9999_future', 'x')`);
  const newer = isProblem(
    'The database has migration 9999_future, which this program does not know: it belongs to a newer version. Start that version.',
  );
  await assert.rejects(migrate(pool), newer);
  assert.equal(await lacksMigrations(pool), false);
  await pool.query(`delete from schema_migrations where name = '0001_schema'`);
  assert.equal(await lacksMigrations(pool), true);
});
