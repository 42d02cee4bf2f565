import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { openMemoryCollector } from './memory.ts';

test('computes used memory as total minus available', () => {
  using machine = copyMachine('bare-vm');
  assert.deepEqual(openMemoryCollector(machine.roots).collect(0), {
    total_bytes: 4_096_000_000,
    used_bytes: 1_024_000_000,
    available_bytes: 3_072_000_000,
    usage_ratio: 0.25,
    free_bytes: 1_024_000_000,
    buffers_bytes: 102_400_000,
    cached_bytes: 1_536_000_000,
    active_bytes: 921_600_000,
    shared_bytes: 51_200_000,
    slab_reclaimable_bytes: 81_920_000,
    dirty_bytes: 122_880,
  });
});

test('counts the reclaimable part of the ZFS cache as available', () => {
  using machine = copyMachine('zfs');
  const part = openMemoryCollector(machine.roots).collect(0);
  const reclaimable = 16_106_127_360 - 1_073_741_824;
  assert.equal(part?.zfs_arc_bytes, 16_106_127_360);
  assert.equal(part.available_bytes, 4_096_000_000 + reclaimable);
  assert.equal(part.used_bytes, 32_768_000_000 - 4_096_000_000 - reclaimable);
});

test('ignores the ZFS cache of the host in an LXC container', () => {
  using machine = copyMachine('zfs');
  machine.write('proc/meminfo', 'MemTotal: 2000 kB\nMemFree: 500 kB\nMemAvailable: 800 kB\n');
  machine.write(
    'proc/self/mountinfo',
    '1206 1149 0:61 /proc/meminfo /proc/meminfo rw,nosuid,nodev,relatime shared:593 - fuse.lxcfs lxcfs rw,user_id=0,group_id=0,allow_other\n',
  );
  const part = openMemoryCollector(machine.roots).collect(0);
  assert.equal(part?.zfs_arc_bytes, undefined);
  assert.deepEqual([part?.used_bytes, part?.usage_ratio], [1200 * 1024, 0.6]);
});

test('estimates available memory as free does for old kernels', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/meminfo',
    'MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 300 kB\nShmem: 30 kB\nSReclaimable: 80 kB\n',
  );
  assert.equal(openMemoryCollector(machine.roots).collect(0)?.available_bytes, 500 * 1024);
});

test('never reports negative memory', () => {
  using machine = emptyMachine();
  machine.write('proc/meminfo', 'MemTotal: 1000 kB\nMemFree: 900 kB\nMemAvailable: 1200 kB\n');
  const part = openMemoryCollector(machine.roots).collect(0);
  assert.deepEqual([part?.used_bytes, part?.usage_ratio], [0, 0]);
});

test('returns null without a total', () => {
  using machine = emptyMachine();
  assert.equal(openMemoryCollector(machine.roots).collect(0), null);
  machine.write('proc/meminfo', 'MemFree: 900 kB\n');
  assert.equal(openMemoryCollector(machine.roots).collect(0), null);
});
