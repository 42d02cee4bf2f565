import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { zstdCompressSync } from 'node:zlib';

import { countRows, findDifferences, readBackupRows } from './backup-rows.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-rows-'));
after(() => rm(directory, { recursive: true }));

let files = 0;

/** Reads a backup with these tables, such as `licenses (id, name)`, and their rows. */
async function read(tables: Readonly<Record<string, readonly string[]>>) {
  const path = join(directory, `${(files += 1)}.zst`);
  const blocks = Object.entries(tables).map(([table, rows]) =>
    [`copy ${table} from stdin;`, ...rows, '\\.', '-- rows {}', ''].join('\n'),
  );
  await writeFile(path, zstdCompressSync(`-- latchkey backup {}\n${blocks.join('')}-- end {}\n`));
  return readBackupRows(path);
}

test('reads every row, those of partitions together', async () => {
  const tables = await read({
    'events_2026_11_27 (id)': ['a'],
    'events_2026_11_28 (id)': ['b', 'copy c (d) from stdin;'],
    'jobs (id)': [],
  });
  assert.deepEqual(countRows(tables), { events: 3, jobs: 0 });
});

test('accepts new columns, tables and entries of the audit log, and another order', async () => {
  const before = await read({
    'licenses (id, name)': ['1\tAnn', '2\tBen'],
    'audit_log (id)': ['1'],
  });
  const next = await read({
    'licenses (name, id, note)': ['Ben\t2\t\\N', 'Ann\t1\tx'],
    'audit_log (id)': ['2', '1'],
    'more (id)': ['1'],
  });
  assert.deepEqual(findDifferences(before, next), []);
});

test('reports lost and changed rows, and lost columns and tables', async () => {
  const before = await read({
    'licenses (id, name)': ['1\tAnn', '1\tAnn'],
    'audit_log (id)': ['1'],
  });
  const rows = await read({
    'licenses (id, name)': ['1\tAnn', '1\tAnna'],
    'audit_log (id)': ['2'],
  });
  assert.deepEqual(findDifferences(before, rows), [
    'licenses lost 1\tAnn',
    'licenses has the new row 1\tAnna',
    'audit_log lost 1',
  ]);
  assert.deepEqual(findDifferences(before, await read({ 'licenses (id)': ['1', '1'] })), [
    'licenses lost the columns name',
    'audit_log is missing',
  ]);
});
