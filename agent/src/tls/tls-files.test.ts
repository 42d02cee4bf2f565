import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { watchFiles } from './tls-files.ts';

function openDirectory(t: TestContext): (name: string) => string {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-watch-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return (name) => join(directory, name);
}

test('reports changed files once, after they are complete', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const at = openDirectory(t);
  const [cert, key] = [at('cert.pem'), at('key.pem')];
  writeFileSync(cert, 'old');
  writeFileSync(key, 'old');
  let changes = 0;
  const watching = watchFiles([cert, key], () => (changes += 1), 1000);
  t.after(() => watching[Symbol.dispose]());
  const look = (): number => {
    t.mock.timers.tick(1000);
    return changes;
  };
  assert.equal(look(), 0);
  writeFileSync(cert, 'newer');
  assert.equal(look(), 0);
  writeFileSync(key, 'newest');
  assert.equal(look(), 0);
  assert.equal(look(), 1);
  assert.equal(look(), 1);
  rmSync(key);
  assert.deepEqual([look(), look()], [1, 2]);
});

test('reports a link to another file', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const at = openDirectory(t);
  writeFileSync(at('cert1.pem'), 'same length');
  writeFileSync(at('cert2.pem'), 'length same');
  symlinkSync(at('cert1.pem'), at('cert.pem'));
  let changes = 0;
  const watching = watchFiles([at('cert.pem')], () => (changes += 1), 1000);
  t.after(() => watching[Symbol.dispose]());
  symlinkSync(at('cert2.pem'), at('new.pem'));
  renameSync(at('new.pem'), at('cert.pem'));
  t.mock.timers.tick(2000);
  assert.equal(changes, 1);
});

test('reports changed permissions, and files that became inaccessible', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const at = openDirectory(t);
  writeFileSync(at('key.pem'), 'key');
  let changes = 0;
  const watching = watchFiles([at('key.pem')], () => (changes += 1), 1000);
  t.after(() => watching[Symbol.dispose]());
  const checkTwice = (): number => {
    t.mock.timers.tick(2000);
    return changes;
  };
  chmodSync(at('key.pem'), 0o600);
  assert.equal(checkTwice(), 1);
  rmSync(at('key.pem'));
  symlinkSync('key.pem', at('key.pem'));
  assert.equal(checkTwice(), 2, 'a link to itself has no status');
  assert.equal(checkTwice(), 2);
});
