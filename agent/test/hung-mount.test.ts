/** Tests a mount that hangs: a filesystem in userspace whose program never answers. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { MountProber } from '#agent/probe/mount-prober.ts';

import { mountHanging } from './mount-in-userspace.ts';
import { until } from './wait.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

const isSlow = (line: string) => JSON.parse(line).event === 'collector.suspended';

test('a hanging mount blocks neither the main thread nor other mounts', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'latchkey-hangs-'));
  const hanging = process.platform === 'linux' ? mountHanging(directory) : null;
  if (hanging === null) {
    rmdirSync(directory);
    return t.skip('needs to be root, mount and /dev/fuse');
  }
  const clock = { ms: 0 };
  const prober = new MountProber(() => clock.ms);
  let released = false;
  try {
    prober.request([directory, '/']);
    clock.ms = 3_000;
    assert.deepEqual(prober.stateOf(directory), { space: null, stale: true });
    await until(() => prober.stateOf('/') !== null);
    const root = prober.stateOf('/');
    assert.equal(root?.stale, false);
    assert.ok((root?.space?.blocks ?? 0) > 0);
    assert.equal(prober.isStuck(), true);
    const once = spawnSync(process.execPath, [main, 'once'], { encoding: 'utf8', timeout: 30_000 });
    assert.equal(once.status, 0, 'a program with such a mount ends');
    // A busy machine may have slow collectors.
    const lines = once.stderr.split('\n').filter((line) => line !== '');
    assert.deepEqual(
      lines.filter((line) => !isSlow(line)),
      [],
    );
    hanging.release();
    released = true;
    await until(() => !prober.isStuck());
    assert.deepEqual(prober.stateOf(directory), { space: null, stale: false });
  } finally {
    if (!released) hanging.release();
    execFileSync('umount', ['-l', directory]);
    rmdirSync(directory);
    prober.close();
  }
});
