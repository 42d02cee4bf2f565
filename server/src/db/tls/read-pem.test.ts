import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { RemedyError } from '#server/config/startup-error.ts';

import { readPem } from './read-pem.ts';

const ROOT = 0;
const NOBODY = 65_534;

/** Calls a function without the rights of root, which may enter every directory. */
function withoutRoot<Result>(call: () => Result): Result {
  if (process.geteuid?.() !== ROOT) return call();
  process.seteuid?.(NOBODY);
  try {
    return call();
  } finally {
    process.seteuid?.(ROOT);
  }
}

test('ignores a default file in a home that the account may not enter, but not a file that the URL names', () => {
  const home = mkdtempSync(join(tmpdir(), 'latchkey-home-'));
  const path = join(home, '.postgresql', 'root.crt');
  const read = (isDefault: boolean) =>
    withoutRoot(() => readPem(path, 'certificate', { setting: 'DATABASE_URL', isDefault }));
  try {
    mkdirSync(join(home, '.postgresql'));
    writeFileSync(path, 'a certificate', { mode: 0o600 });
    chmodSync(home, 0);
    assert.equal(read(true), null);
    assert.throws(() => read(false), RemedyError);

    // As in libpq: a file that exists, and that the account may not read, is a mistake.
    chmodSync(home, 0o755);
    chmodSync(path, 0);
    assert.throws(() => read(true), /cannot be read \(EACCES\)/u);
  } finally {
    chmodSync(home, 0o700);
    rmSync(home, { recursive: true });
  }
});
