import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { openTestPool } from '../../test/database-pool.ts';

const sources = fileURLToPath(new URL('../', import.meta.url));
const migrations = fileURLToPath(new URL('./migrations/', import.meta.url));
const schema = readdirSync(migrations)
  .map((file) => readFileSync(join(migrations, file), 'utf8'))
  .join('\n');

/** The comment of an index, above it or above the index before. */
const INDEX_COMMENT = /((?:^ *-- .*\n)+)create (?:unique )?index/gm;

test('every statement that the schema names for an index exists', () => {
  const code = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(sources, file), 'utf8'))
    .join('\n');
  const named = [...schema.matchAll(INDEX_COMMENT)].flatMap(
    ([, comment = '']) => comment.match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [],
  );
  assert.ok(named.length > 20, `${named.length} statements are named`);
  assert.deepEqual(
    named.filter((name) => !code.includes(`'${name}'`)),
    [],
  );
});

test('every table has a comment in the schema', async () => {
  const pool = await openTestPool();
  const { rows } = await pool.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_name not similar to 'schema_migrations|events_%|citus_%'`,
  );
  const described = schema.matchAll(/^-- .*\ncreate table (\w+)/gm).map(([, name]) => name);
  assert.deepEqual(new Set(described), new Set(rows.map(({ name }) => name)));
});

test('no constraint lists the languages: a new one needs no migration', async () => {
  const pool = await openTestPool();
  const { rows } = await pool.query<{ name: string }>(
    `select conname as name from pg_constraint
     where contype = 'c' and pg_get_constraintdef(oid) ~ $1`,
    ["'(fr|de)'"],
  );
  assert.deepEqual(rows, []);
});
