import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { makeGroups, removeGroup } from './cgroups.ts';
import { whySystemsCannotRun } from './lacks.ts';

const skip = whySystemsCannotRun() ?? false;

test(
  'groups of a process that is gone are removed once nothing runs in them',
  { skip },
  async () => {
    const own = makeGroups();
    const gone = spawnSync('true').pid;
    const stale = own.map((group) => join(dirname(group), `latchkey-${gone}-1`));
    const running = spawn('sleep', ['infinity']);
    try {
      for (const group of stale) {
        mkdirSync(group);
        writeFileSync(join(group, 'cgroup.procs'), String(running.pid));
      }
      for (const group of makeGroups()) removeGroup(group);
      assert.deepEqual(
        stale.map(existsSync),
        stale.map(() => true),
      );
    } finally {
      running.kill('SIGKILL');
      await once(running, 'exit');
    }
    for (const group of makeGroups()) removeGroup(group);
    assert.deepEqual(
      stale.map(existsSync),
      stale.map(() => false),
    );
    for (const group of own) removeGroup(group);
  },
);
