import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { makeDirectory } from './make-directory.ts';

const root = mkdtempSync(join(tmpdir(), 'latchkey-test-'));
after(() => rmSync(root, { recursive: true }));

test('a directory and those above it are made once, for their owner alone', () => {
  const path = join(root, 'a', 'b', 'c');
  makeDirectory(path, 0o700);
  makeDirectory(path, 0o700);
  assert.equal(statSync(path).mode & 0o777, 0o700);
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o700);
});

test('a file in the way is an error, and not taken for a directory', () => {
  const file = join(root, 'file');
  writeFileSync(file, '');
  assert.throws(() => makeDirectory(file, 0o700), { code: 'EEXIST' });
  assert.throws(() => makeDirectory(join(file, 'below'), 0o700), { code: /^(EEXIST|ENOTDIR)$/ });
});

test('where the file system makes no directories the attempt ends', (t) => {
  if (process.platform !== 'linux') return t.skip('needs /proc');
  assert.throws(() => makeDirectory('/proc/latchkey/data', 0o700), { code: 'ENOENT' });
});
