import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import * as embedded from '../../../test/embedded-postgres.ts';

import { findBinaries } from './binaries.ts';

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;

let directory: string;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'latchkey-binaries-'));
});

after(async () => {
  await run('chmod', ['-R', 'u+w', directory]);
  await embedded.removeDirectory(directory);
});

/** Copies the package as npm installs it without install scripts. */
async function copyWithoutLinks(name: string): Promise<string> {
  const { postgres } = await findBinaries(null, directory);
  const copy = join(directory, name);
  await run('cp', ['-a', dirname(dirname(dirname(postgres))), copy]);
  await run('find', [copy, '-type', 'l', '-delete']);
  return copy;
}

test('creates missing links between the libraries', async () => {
  const copy = await copyWithoutLinks('without-links');
  const { postgres, initdb, major } = await findBinaries(null, directory, copy);
  assert.equal(postgres, join(copy, 'native', 'bin', 'postgres'));
  assert.match((await run(postgres, ['--version'])).stdout, new RegExp(`^postgres .* ${major}\\.`));
  assert.match((await run(initdb, ['--version'])).stdout, new RegExp(`^initdb .* ${major}\\.`));
});

const unlessRoot = { skip: isRoot ? 'root can write to read-only directories' : false };

test('copies a read-only package once, and runs the copy', unlessRoot, async () => {
  const copy = await copyWithoutLinks('read-only');
  await run('chmod', ['-R', 'a-w', copy]);
  const { postgres } = await findBinaries(null, directory, copy);
  assert.ok(postgres.startsWith(join(directory, 'postgresql-18.')), postgres);
  assert.match((await run(postgres, ['--version'])).stdout, /^postgres /);
  const entries = await readdir(directory);
  assert.deepEqual(
    await findBinaries(null, directory, copy).then((again) => again.postgres),
    postgres,
  );
  assert.deepEqual(await readdir(directory), entries);
});
