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

test('the tail holds what was written since the log was opened, and not before', async () => {
  const path = join(directory, 'postgres.log');
  await writeFile(path, 'an earlier run\n');
  const log = openServerLog(directory);
  assert.equal(await log.readTail(), '');
  writeSync(log.descriptor, 'FATAL:  a reason\n');
  assert.equal(await log.readTail(), 'FATAL:  a reason\n');
  writeSync(log.descriptor, `${'x'.repeat(5_000)}\n`);
  assert.equal(await log.readTail(), `${'x'.repeat(4_095)}\n`);
  log.close();
  await rm(path);
});

test('only its owner can read it', async () => {
  const log = openServerLog(directory);
  log.close();
  assert.equal((await stat(log.path)).mode & 0o777, 0o600);
});

test('a log that has grown is kept once and begun anew, while its writer goes on', async (t) => {
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

/** Root would append lines of the database's owner to any file, and make the account of the service its owner. */
test('a link in place of the log or of its predecessor is refused and not followed', async () => {
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
