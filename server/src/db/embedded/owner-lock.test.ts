import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { StartupError } from '#server/config/startup-error.ts';

import { lockDataDirectory } from './owner-lock.ts';
import { readStartTime } from './processes.ts';

let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-lock-'));
});

after(() => rm(directory, { recursive: true, force: true }));

test('locks a released directory again, and leaves no lock file', async () => {
  const data = join(directory, 'missing', 'parents');
  for (let round = 0; round < 3; round += 1) {
    const lock = await lockDataDirectory(data);
    assert.deepEqual(await readdir(data), ['latchkey.lock']);
    await lock.release();
    assert.deepEqual(await readdir(data), []);
  }
});

test('grants concurrent callers the lock one at a time', async () => {
  const data = join(directory, 'contested');
  let holders = 0;
  const turns = Array.from({ length: 8 }, async () => {
    const lock = await lockDataDirectory(data);
    holders += 1;
    assert.equal(holders, 1);
    await new Promise((resolve) => setTimeout(resolve, 5));
    holders -= 1;
    await lock.release();
  });
  await Promise.all(turns);
});

test('names the process that holds the lock', async () => {
  const data = join(directory, 'held');
  const lock = await lockDataDirectory(data);
  await assert.rejects(lockDataDirectory(data, 100), (error) => {
    assert.ok(error instanceof StartupError);
    assert.ok(
      error.message.includes(`${data} is in use by another Latchkey, process ${process.pid}:`),
    );
    return true;
  });
  await lock.release();
});

for (const [what, content] of [
  ['of a process that has ended', '4194305 1\n'],
  ['whose process id was reused', `${process.ppid} 1\n`],
  ['that is empty', ''],
  ['that is invalid', 'hello\n'],
] as const) {
  test(`takes over a lock ${what}`, async () => {
    const data = await mkdtemp(join(directory, 'stale-'));
    await writeFile(join(data, 'latchkey.lock'), content);
    await (await lockDataDirectory(data)).release();
    assert.deepEqual(await readdir(data), []);
  });
}

test('names a directory that is not writable', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root can write anywhere');
  const data = await mkdtemp(join(directory, 'read-only-'));
  await chmod(data, 0o500);
  await assert.rejects(lockDataDirectory(data), /read-only-.* cannot be written \(EACCES\)/);
});

test('readStartTime differs between processes, and is null for none', async () => {
  const own = await readStartTime(process.pid);
  assert.equal(typeof own, 'string');
  assert.equal(await readStartTime(process.pid), own);
  // The first process of the system: a parent may have started within the same hundredth of a second.
  assert.notEqual(await readStartTime(1), own);
  assert.equal(await readStartTime(4_194_305), null);
});
