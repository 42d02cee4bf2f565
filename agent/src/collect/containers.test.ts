import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { openContainersCollector } from './containers.ts';

const DOCKER =
  'sys/fs/cgroup/system.slice/docker-4c01db0b339c4c01db0b339c4c01db0b339c4c01db0b339c4c01db0b339caaaa.scope';

test('finds containers of every engine once, and no services', () => {
  using machine = copyMachine('container-host');
  const part = openContainersCollector(machine.roots).collect(0) ?? [];
  assert.deepEqual(part.map(({ runtime, id }) => `${runtime} ${id}`).sort(), [
    'docker 4c01db0b339c',
    'docker dddddddddddd',
    'kubernetes cccccccccccc',
    'lxc web',
    'nspawn deb',
    'podman bbbbbbbbbbbb',
  ]);
});

test('finds Podman services and Proxmox containers, without their monitors', () => {
  using machine = emptyMachine();
  const id = 'e8c29da1a2f6c4bb032304f7dfbc5a767e026092c4a2fcbc830e58565f972f54';
  const app = 'user.slice/user-1000.slice/user@1000.service/app.slice/redis.service';
  machine.write('sys/fs/cgroup/cgroup.controllers', 'cpu io memory pids\n');
  for (const group of [
    `${app}/libpod-payload-${id}`,
    `${app}/runtime`,
    'lxc/101',
    'lxc/101/ns',
    'lxc.monitor/101',
  ])
    machine.write(`sys/fs/cgroup/${group}/cpu.stat`, 'usage_usec 5\n');
  assert.deepEqual(openContainersCollector(machine.roots).collect(0), [
    { id: '101', runtime: 'lxc' },
    { id: 'e8c29da1a2f6', runtime: 'podman' },
  ]);
});

test('reports memory without page cache, and rates between two readings', () => {
  using machine = copyMachine('container-host');
  const containers = openContainersCollector(machine.roots);
  const find = (atMs: number) => containers.collect(atMs)?.find(({ id }) => id === '4c01db0b339c');
  assert.deepEqual(find(0), {
    id: '4c01db0b339c',
    runtime: 'docker',
    memory_bytes: 200_000_000,
    memory_limit_bytes: 536_870_912,
    processes: 7,
  });
  machine.write(`${DOCKER}/cpu.stat`, 'usage_usec 8000000\nuser_usec 1\nsystem_usec 2\n');
  machine.write(`${DOCKER}/io.stat`, '8:0 rbytes=3000 wbytes=2000\n259:0 rbytes=500 wbytes=8100\n');
  assert.equal(find(1_000)?.cpu_cores, undefined);
  const later = find(2_000);
  assert.equal(later?.cpu_cores, 1.5);
  assert.equal(later.read_bytes_per_second, 1000);
  assert.equal(later.write_bytes_per_second, 4000);
});

test('counts I/O through LVM, LUKS and RAID once, at the leaf disks', () => {
  using machine = copyMachine('container-host');
  const devices = {
    '8:0': ['size'],
    '8:16': ['size'],
    '9:127': ['md/level', 'slaves/sda/size'],
    '253:0': ['dm/name', 'slaves/md127/size'],
    '253:1': ['dm/name', 'slaves/dm-0/size'],
    '7:0': ['loop/backing_file'],
    '252:0': ['slaves/sdb/size'],
  };
  for (const [number, files] of Object.entries(devices))
    for (const file of files) machine.write(`sys/dev/block/${number}/${file}`, '1\n');
  const show = (bytes: number) =>
    machine.write(
      `${DOCKER}/io.stat`,
      Object.keys(devices)
        .map((number) => `${number} rbytes=${bytes} wbytes=${2 * bytes} rios=1 wios=1\n`)
        .join(''),
    );
  show(0);
  const containers = openContainersCollector(machine.roots);
  containers.collect(0);
  show(1_000);
  const part = containers.collect(2_000)?.find(({ id }) => id === '4c01db0b339c');
  assert.deepEqual([part?.read_bytes_per_second, part?.write_bytes_per_second], [1_000, 2_000]);
});

test('starts new rates after a pause without viewers', () => {
  using machine = copyMachine('container-host');
  const containers = openContainersCollector(machine.roots);
  const use = (seconds: number, atMs: number) => {
    machine.write(`${DOCKER}/cpu.stat`, `usage_usec ${seconds * 1_000_000}\n`);
    return containers.collect(atMs)?.find(({ id }) => id === '4c01db0b339c')?.cpu_cores;
  };
  use(10, 0);
  assert.equal(use(12, 2_000), 1);
  containers.idle?.(3_000);
  assert.equal(use(3_612, 3_602_000), undefined);
  assert.equal(use(3_612.25, 3_603_000), undefined);
  assert.equal(use(3_612.5, 3_604_000), 0.25);
});

test('leaves out a missing limit, and never reports negative memory', () => {
  using machine = copyMachine('container-host');
  const part = openContainersCollector(machine.roots).collect(0);
  const podman = part?.find(({ runtime }) => runtime === 'podman');
  assert.deepEqual([podman?.memory_limit_bytes, podman?.memory_bytes], [undefined, 0]);
});

test('drops an ended container, and finds a new one', () => {
  using machine = copyMachine('container-host');
  const containers = openContainersCollector(machine.roots);
  containers.collect(0);
  machine.remove(DOCKER);
  machine.write('sys/fs/cgroup/lxc.payload.db/cpu.stat', 'usage_usec 5\n');
  const ids = containers.collect(10_000)?.map(({ id }) => id) ?? [];
  assert.equal(ids.includes('4c01db0b339c'), false);
  assert.equal(ids.includes('db'), true);
  containers.close?.();
});

test('returns null without containers, and with control groups of version 1', () => {
  using old = copyMachine('cgroup-v1');
  assert.equal(openContainersCollector(old.roots).collect(0), null);
  using vm = copyMachine('bare-vm');
  vm.write('sys/fs/cgroup/cgroup.controllers', 'cpu io memory pids\n');
  assert.equal(openContainersCollector(vm.roots).collect(0), null);
});
