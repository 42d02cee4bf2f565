import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { packTar } from './tar.ts';

const modifiedAt = new Date('2026-01-01T00:00:00Z');
const content = Buffer.from('text');

function listWithTar(archive: Buffer): string {
  return spawnSync('tar', ['-tvf', '-'], {
    input: archive,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], TZ: 'UTC', LC_ALL: 'C' },
  }).stdout;
}

test('packs files, directories, links and long paths as tar reads them', () => {
  const long = `${'directory/'.repeat(14)}${'n'.repeat(100)}`;
  const archive = packTar(
    [
      { path: 'a/', mode: 0o755, content: Buffer.alloc(0) },
      { path: 'a/file', mode: 0o640, content },
      { path: 'a/own', mode: 0o600, content, owner: 10_001 },
      { path: 'a/link', mode: 0o777, content: Buffer.alloc(0), linkTo: '../file' },
      { path: long, mode: 0o644, content },
    ],
    modifiedAt,
  );
  const lines = listWithTar(archive).replaceAll(/ +/gu, ' ').trim().split('\n');
  assert.deepEqual(lines, [
    'drwxr-xr-x root/root 0 2026-01-01 00:00 a/',
    '-rw-r----- root/root 4 2026-01-01 00:00 a/file',
    '-rw------- 10001/10001 4 2026-01-01 00:00 a/own',
    'lrwxrwxrwx root/root 0 2026-01-01 00:00 a/link -> ../file',
    `-rw-r--r-- root/root 4 2026-01-01 00:00 ${long}`,
  ]);
});

test('rejects a path that the format cannot hold', () => {
  for (const path of ['n'.repeat(101), `${'d'.repeat(156)}/${'n'.repeat(90)}`]) {
    assert.throws(() => packTar([{ path, mode: 0o644, content }], modifiedAt), RangeError);
  }
});
