import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { checkCluster } from './cluster.ts';

const onlyRoot = { skip: process.getuid?.() === 0 ? false : 'needs root' };
const BINARIES = { initdb: '', postgres: '', major: '18' };
const ATTEMPTS = 40;

test(
  'changes no owner outside a cluster whose former owner swaps directories for links',
  onlyRoot,
  async (t) => {
    const directory = await mkdtemp(join(tmpdir(), 'latchkey-owner-'));
    const [cluster, outside] = [join(directory, 'postgres'), join(directory, 'outside')];
    await mkdir(join(cluster, 'base'), { recursive: true });
    await mkdir(outside);
    for (const parent of [join(cluster, 'base'), outside]) {
      await writeFile(join(parent, 'file'), '');
    }
    await writeFile(join(cluster, 'PG_VERSION'), '18\n');
    await symlink(outside, join(cluster, 'link'));
    const swapper = spawn(process.execPath, ['-e', SWAP, cluster], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.after(() => swapper.kill('SIGKILL'));
    await once(swapper.stdout, 'data');
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const account = { uid: 10_000 + attempt, gid: 10_000 };
      // chown may report an entry as missing while it is renamed.
      await checkCluster(cluster, await stat(cluster), BINARIES, account).catch(() => {});
      assert.equal((await stat(join(outside, 'file'))).uid, 0, `attempt ${attempt}`);
    }
  },
);

/** Swaps a directory and a link in an endless loop. */
const SWAP = `
  const { renameSync } = require('node:fs');
  process.chdir(process.argv[1]);
  console.log('swapping');
  for (;;) {
    renameSync('base', 'aside');
    renameSync('link', 'base');
    renameSync('base', 'link');
    renameSync('aside', 'base');
  }
`;
