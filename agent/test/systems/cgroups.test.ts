import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { createGroups, removeGroup } from './cgroups.ts';
import { findMissingRequirement } from './requirements.ts';

const skip = findMissingRequirement() ?? false;

test('removes the groups of an ended process once they are empty', { skip }, async () => {
  const own = createGroups();
  const gone = spawnSync('true').pid;
  const stale = own.map((group) => join(dirname(group), `latchkey-${gone}-1`));
  const running = spawn('sleep', ['infinity']);
  try {
    for (const group of stale) {
      mkdirSync(group);
      writeFileSync(join(group, 'cgroup.procs'), String(running.pid));
    }
    for (const group of createGroups()) removeGroup(group);
    assert.deepEqual(
      stale.map(existsSync),
      stale.map(() => true),
    );
  } finally {
    running.kill('SIGKILL');
    await once(running, 'exit');
  }
  for (const group of createGroups()) removeGroup(group);
  assert.deepEqual(
    stale.map(existsSync),
    stale.map(() => false),
  );
  for (const group of own) removeGroup(group);
});
