import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from 'pg';

import { createTestDatabase } from './database.ts';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

test('each test database is migrated and separate', async () => {
  const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  try {
    await query(first.url, 'create table mine (id int)');
    const migrated = await query(second.url, 'select name from schema_migrations');
    assert.notEqual(migrated.length, 0);
    await assert.rejects(query(second.url, 'select from mine'), { code: '42P01' });
  } finally {
    await Promise.all([first.drop(), second.drop()]);
  }
});

test('drops a test database that has connections', async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  const cut = new Promise((resolve) => client.on('error', resolve));
  await client.connect();
  await database.drop();
  await cut;
  await assert.rejects(query(database.url, 'select 1'), { code: '3D000' });
});
