import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';

import { writeFile } from './write-file.ts';

/** Records each call of the file functions before it runs. */
function watchCalls(t: TestContext, note: (name: string, args: readonly unknown[]) => void): void {
  for (const name of [
    'writeFileSync',
    'fchownSync',
    'fchmodSync',
    'fsyncSync',
    'renameSync',
  ] as const) {
    const original: (...args: never[]) => unknown = fs[name];
    t.mock.method(fs, name, (...args: never[]) => {
      note(name, args);
      return original(...args);
    });
  }
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.reset();
    syncBuiltinESMExports();
  });
}

test('keeps new content private until it has its owner, and syncs it before the rename', (t) => {
  const directory = fs.mkdtempSync(join(tmpdir(), 'latchkey-agent-write-'));
  t.after(() => fs.rmSync(directory, { recursive: true }));
  const path = join(directory, 'privkey.pem');
  const steps: string[] = [];
  const umask = process.umask(0);
  t.after(() => process.umask(umask));
  watchCalls(t, (name, [file]) => {
    const stats = typeof file === 'number' ? fs.fstatSync(file) : null;
    const kind = stats?.isDirectory() === true ? ' of the directory' : '';
    steps.push(`${name}${kind}`);
    if (stats?.isFile() === true && name !== 'fsyncSync') {
      assert.equal(stats.mode & 0o777, 0o600, `before ${name}`);
    }
  });
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  writeFile(path, 'secret', { mode: 0o640, ...owner });
  assert.deepEqual(steps, [
    'writeFileSync',
    'fchownSync',
    'fchmodSync',
    'fsyncSync',
    'renameSync',
    'fsyncSync of the directory',
  ]);
  assert.equal(fs.statSync(path).mode & 0o777, 0o640);
  assert.deepEqual(fs.readdirSync(directory), ['privkey.pem']);
});

test('replaces a symbolic link at the temporary path without following it', (t) => {
  const directory = fs.mkdtempSync(join(tmpdir(), 'latchkey-agent-write-'));
  t.after(() => fs.rmSync(directory, { recursive: true }));
  const [path, other] = [join(directory, 'key'), join(directory, 'other')];
  fs.writeFileSync(other, 'theirs');
  fs.symlinkSync(other, join(directory, '.key.latchkey-agent-new'));
  const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  writeFile(path, 'secret', { mode: 0o600, ...owner });
  assert.deepEqual(
    [fs.readFileSync(path, 'utf8'), fs.readFileSync(other, 'utf8')],
    ['secret', 'theirs'],
  );
});
