import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { openTestPool } from '../../../test/database-pool.ts';
import { listColumns } from './inventory.fixture.ts';
import { SOURCES } from './queries/personal-data.ts';

const pool = await openTestPool();

test('every column of text, JSON or bytes is classified', async () => {
  const { rows } = await pool.query(
    `select relation.relname as table, attribute.attname as column
     from pg_attribute attribute
     join pg_class relation on relation.oid = attribute.attrelid
     join pg_namespace namespace on namespace.oid = relation.relnamespace
     where namespace.nspname = 'public' and relation.relkind in ('r', 'p')
       and not relation.relispartition and attribute.attnum > 0 and not attribute.attisdropped
       and attribute.atttypid::regtype::text
           in ('text', 'character varying', 'jsonb', 'json', 'bytea', 'text[]', 'inet')
     order by 1, 2`,
  );
  const actual = rows.map((row) => `${row.table}.${row.column}`);
  const classified = listColumns('person', 'address', 'linked', 'free', 'none');
  assert.ok(actual.length > 80, 'the columns were not found');
  assert.deepEqual(
    actual.filter((column) => !classified.includes(column)),
    [],
    'classify these in inventory.fixture.ts; `customer show`, `export` and `erase` must handle personal data',
  );
  assert.deepEqual(
    classified.filter((column) => !actual.includes(column)),
    [],
    'these are classified and do not exist',
  );
});

/**
 * Jobs contain ids for minutes; adjustments name no buyer; the names and updates of licenses repeat the ids of their checkouts; payment events
 * and events of installs are read separately.
 */
const READ_OTHERWISE = [
  'billing_adjustments',
  'billing_events',
  'events',
  'jobs',
  'license_names',
  'license_updates',
];

test('every table with personal data is shown, exported and documented', () => {
  const tables = new Set(
    listColumns('person', 'address', 'linked').map((column) => column.split('.')[0] ?? ''),
  );
  const handled = new Set([...SOURCES.map(({ table }) => table), ...READ_OTHERWISE]);
  assert.deepEqual(
    [...tables].filter((table) => !handled.has(table)),
    [],
  );
  const page = new URL('../../../../docs/operations/personal-data.md', import.meta.url);
  const documented = readFileSync(page, 'utf8');
  assert.deepEqual(
    [...tables].filter((table) => !documented.includes(`\`${table}`)),
    [],
  );
});
