import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { createDirectory } from './data-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'latchkey-test-'));
after(() => rmSync(root, { recursive: true }));

test('creates a directory and its parents once, for their owner only', () => {
  const path = join(root, 'a', 'b', 'c');
  createDirectory(path);
  createDirectory(path);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o700);
});

test('throws if a file has the path of a directory', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  assert.throws(() => createDirectory(file), { code: 'EEXIST' });
  assert.throws(() => createDirectory(join(file, 'below')), { code: /^(EEXIST|ENOTDIR)$/ });
});

test('throws in a file system without directories to create', (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  assert.throws(() => createDirectory('/proc/latchkey/data'), { code: 'ENOENT' });
});
