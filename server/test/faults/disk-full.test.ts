import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { createCluster } from '../embedded-postgres.ts';
import { inheritedVariables } from '../inherited-variables.ts';
import { findMountObstacle, SmallDisk } from '../small-disk.ts';
import { spreadsTables } from '../test-cluster.ts';
import { COMMAND_LINE_SECRET, openCommandLine } from '../test-command-line.ts';

const program = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A database with an embedded PostgreSQL, and as much as the rows of the backup need. */
const DISK_MEGABYTES = 400;

const skip = spreadsTables || findMountObstacle();

describe('on a full disk', { skip }, async () => {
  const source = await openCommandLine();
  const backup = join(source.directory, 'complete.zst');

  before(async () => {
    await source.runJson('license', 'issue', '--product', 'personal');
    // 64 MB that PostgreSQL cannot compress.
    await source.pool.query(
      `insert into webhook_messages (id, type, license_id, payload, created_at)
       select number, 'license.created', gen_random_uuid(), payload, now()
       from generate_series(1, 2000) number
       cross join lateral (
         select string_agg(md5(number || ':' || part), '') payload from generate_series(1, 1000) part
       ) texts`,
    );
    const written = await source.run('backup', backup);
    assert.equal(written.code, 0, written.stderr);
  });

  test('a first start says so first, whether nothing or not enough is free', async () => {
    await using disk = await SmallDisk.mount(30);
    const dataDirectory = join(disk.directory, 'data');
    const sentence = `latchkey: The disk is full: free 512 MiB or more for the data directory ${dataDirectory}, or set LATCHKEY_DATA_DIR to one on another disk.`;
    const refused = await run(dataDirectory, 'serve');
    assert.deepEqual([refused.code, lastLine(refused.stderr)], [78, sentence]);
    await disk.fill(0);
    const full = await run(dataDirectory, 'serve');
    assert.deepEqual([full.code, lastLine(full.stderr)], [78, sentence]);
  });

  test('a backup fails with a sentence, and leaves no file behind', async () => {
    await using disk = await SmallDisk.mount(DISK_MEGABYTES);
    await disk.fill(1024 * 1024);
    const path = join(disk.directory, 'a.zst');
    const { code, stdout, stderr } = await source.run('backup', path);
    assert.deepEqual([code, stdout], [1, '']);
    assert.equal(lastLine(stderr), `latchkey: ${path} cannot be written (the disk is full).`);
    assert.deepEqual(await readdir(disk.directory), ['filler']);
    await disk.empty();
    const repeated = await source.run('backup', path);
    assert.equal(repeated.code, 0, repeated.stderr);
  });

  test('a restore fails with a sentence and restores nothing, until there is space', async () => {
    await using disk = await SmallDisk.mount(DISK_MEGABYTES);
    const dataDirectory = join(disk.directory, 'data');
    await createCluster(dataDirectory);
    await disk.fill(20 * 1024 * 1024);
    const failed = await run(dataDirectory, 'restore', backup);
    assert.equal(failed.code, 1, failed.stderr);
    assert.equal(
      lastLine(failed.stderr),
      'latchkey: The disk of the database is full, and nothing was restored: free space, and repeat the command.',
    );
    await disk.empty();
    const repeated = await run(dataDirectory, 'restore', backup);
    assert.equal(repeated.code, 0, repeated.stderr);
    const listed = await run(dataDirectory, 'license', 'list', '--json');
    assert.match(listed.stdout, /"key_hint"/);
  });
});

/** Runs a command on an embedded PostgreSQL, in a process of its own: as root, it changes its account. */
async function run(dataDirectory: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [program, ...args], {
    env: {
      ...inheritedVariables(),
      LATCHKEY_DATA_DIR: dataDirectory,
      LATCHKEY_SECRET: COMMAND_LINE_SECRET,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr };
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
