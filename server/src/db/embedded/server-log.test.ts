import assert from 'node:assert/strict';
import { writeSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
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
