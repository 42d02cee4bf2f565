import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { StartupError } from '#server/config/startup-error.ts';

import { lockDataDirectory } from './owner-lock.ts';
import { identifyProcess } from './processes.ts';

let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-lock-'));
});

after(() => rm(directory, { recursive: true, force: true }));

test('a directory that is released can be taken again, and keeps no lock file', async () => {
  const data = join(directory, 'made', 'on', 'the', 'way');
  for (let round = 0; round < 3; round += 1) {
    const lock = await lockDataDirectory(data);
    assert.deepEqual(await readdir(data), ['latchkey.lock']);
    await lock.release();
    assert.deepEqual(await readdir(data), []);
  }
});

test('of many that want a directory at once, one at a time has it', async () => {
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

test('who holds it longer is named', async () => {
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
  ['of a process that is gone', '4194305 1\n'],
  ['of an earlier process with an id that is in use again', `${process.ppid} 1\n`],
  ['that was never written', ''],
  ['that makes no sense', 'hello\n'],
] as const) {
  test(`a lock ${what} is taken over`, async () => {
    const data = await mkdtemp(join(directory, 'stale-'));
    await writeFile(join(data, 'latchkey.lock'), content);
    await (await lockDataDirectory(data)).release();
    assert.deepEqual(await readdir(data), []);
  });
}

test('a directory that cannot be written is named', async (t) => {
  if (process.getuid?.() === 0) return t.skip('root can write anywhere');
  const data = await mkdtemp(join(directory, 'read-only-'));
  await chmod(data, 0o500);
  await assert.rejects(lockDataDirectory(data), /read-only-.* cannot be written \(EACCES\)/);
});

test('a process is told from a later one with its id, and from none', async () => {
  const own = await identifyProcess(process.pid);
  assert.equal(typeof own, 'string');
  assert.equal(await identifyProcess(process.pid), own);
  // The first process of the system: a parent may have started within the same hundredth of a second.
  assert.notEqual(await identifyProcess(1), own);
  assert.equal(await identifyProcess(4_194_305), null);
});
