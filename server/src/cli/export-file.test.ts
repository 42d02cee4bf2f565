import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { writeExport } from './export-file.ts';

const directory = mkdtempSync(join(tmpdir(), 'latchkey-export-'));
after(() => rmSync(directory, { recursive: true }));

async function* failing(): AsyncGenerator<string> {
  yield 'id,email\r\n';
  yield '1,ada@example.com\r\n';
  throw new Error('the connection was closed');
}

async function* whole(): AsyncGenerator<string> {
  yield 'id,email\r\n';
}

test('writes a new file that only its owner reads, and never overwrites one', async () => {
  const path = join(directory, 'whole.csv');
  await writeExport('records', path, whole);
  assert.equal(readFileSync(path, 'utf8'), 'id,email\r\n');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(path, 'another file');
  await assert.rejects(writeExport('records', path, whole), /already exists/u);
  assert.equal(readFileSync(path, 'utf8'), 'another file');
});

test('removes the file of an export that fails, and reports the error', async () => {
  const before = readdirSync(directory);
  const path = join(directory, 'half.csv');
  await assert.rejects(writeExport('records', path, failing), /the connection was closed/u);
  assert.deepEqual(readdirSync(directory), before);
});
