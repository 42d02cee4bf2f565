import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { link, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { openServerLog } from './server-log.ts';

const LARGEST_BYTES = 8 * 1024 * 1024;

let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-server-log-'));
});

after(() => rm(directory, { recursive: true, force: true }));

test('readTail returns the lines since the log was opened', async () => {
  const path = join(directory, 'postgres.log');
  await writeFile(path, 'an earlier run\n');
  const log = openServerLog(directory);
  assert.equal(log.readTail(), '');
  writeSync(log.descriptor, 'FATAL:  a reason\n');
  assert.equal(log.readTail(), 'FATAL:  a reason\n');
  writeSync(log.descriptor, `${'x'.repeat(5_000)}\n`);
  assert.equal(log.readTail(), `${'x'.repeat(4_095)}\n`);
  log.close();
  await rm(path);
});

test('only the owner can read the log', async () => {
  const log = openServerLog(directory);
  log.close();
  assert.equal((await stat(log.path)).mode & 0o777, 0o600);
});

test('rotates a large log once, while its writer continues', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const log = openServerLog(directory);
  writeSync(log.descriptor, 'first\n');
  await truncate(log.path, LARGEST_BYTES + 1);
  t.mock.timers.tick(60_000);
  writeSync(log.descriptor, 'after\n');
  log.close();
  assert.equal(await readFile(log.path, 'utf8'), 'after\n');
  assert.equal((await stat(`${log.path}.1`)).size, LARGEST_BYTES + 1);
});

/** Through a link, root would append to any file and change its owner. */
test('rejects a link in place of the log or of its rotated file', async () => {
  const victim = join(directory, 'victim');
  const account = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  for (const name of ['postgres.log', 'postgres.log.1']) {
    for (const place of [symlink, link]) {
      for (const each of ['postgres.log', 'postgres.log.1']) {
        await rm(join(directory, each), { force: true });
      }
      await writeFile(victim, 'untouched');
      await place(victim, join(directory, name));
      assert.throws(() => openServerLog(directory, directory, account), /is no plain file/u);
    }
  }
});
