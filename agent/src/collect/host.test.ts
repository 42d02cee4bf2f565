import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { readHost } from './host.ts';

test('recognizes a virtual machine', () => {
  using machine = copyMachine('bare-vm');
  assert.deepEqual(readHost(machine.roots), {
    hostname: 'vm',
    os_name: 'Debian GNU/Linux 12 (bookworm)',
    os_id: 'debian',
    os_version: '12',
    kernel_version: '6.1.0-18-amd64',
    architecture: process.arch,
    cpu_model: 'Intel(R) Xeon(R) Processor @ 2.60GHz',
    cpu_logical_count: 2,
    cpu_physical_count: 1,
    memory_total_bytes: 4_096_000_000,
    boot_time: '2026-11-21T00:00:00.000Z',
    machine_type: 'virtual',
    machine_model: 'KVM Virtual Machine',
  });
});

test('recognizes a physical server, and does not count threads as cores', () => {
  using machine = copyMachine('server');
  const host = readHost(machine.roots);
  assert.deepEqual(
    [host.machine_type, host.cpu_logical_count, host.cpu_physical_count, host.machine_model],
    ['physical', 8, 4, 'PowerEdge R7625'],
  );
});

test('recognizes a Raspberry Pi by its board', () => {
  using machine = copyMachine('raspberry-pi');
  const host = readHost(machine.roots);
  assert.deepEqual(
    [host.machine_type, host.cpu_logical_count, host.cpu_physical_count, host.machine_model],
    ['physical', 4, undefined, 'Raspberry Pi 5 Model B Rev 1.0'],
  );
});

test('recognizes a container on any machine', () => {
  using machine = copyMachine('container');
  assert.equal(readHost(machine.roots).machine_type, 'container');
  using docker = emptyMachine();
  const overlay = '600 1 0:50 / / rw,relatime - overlay overlay rw\n';
  const hosts = '601 600 254:1 /docker/1/hosts /etc/hosts rw - ext4 /dev/vda1 rw\n';
  docker.write('proc/self/mountinfo', `${overlay}${hosts}`);
  assert.equal(readHost(docker.roots).machine_type, 'container');
});

test('does not take an overlay root for a container', () => {
  using machine = copyMachine('raspberry-pi');
  machine.write(
    'proc/self/mountinfo',
    '28 1 0:25 / / rw - overlay overlayroot rw,lowerdir=/media/root-ro,upperdir=/media/root-rw\n' +
      '29 28 179:2 / /media/root-ro ro - ext4 /dev/mmcblk0p2 ro\n',
  );
  assert.equal(readHost(machine.roots).machine_type, 'physical');
});

test('leaves out unknown facts', () => {
  using machine = emptyMachine();
  assert.deepEqual(readHost(machine.roots), {
    hostname: 'unknown',
    architecture: process.arch,
    machine_type: 'physical',
  });
});

test('leaves out a boot time before 1970', () => {
  using machine = emptyMachine();
  machine.write('proc/stat', 'cpu 1 1 1 1\nbtime 18446744073709551000\n');
  assert.equal(readHost(machine.roots).boot_time, undefined);
});

test('counts all processors of a large machine', () => {
  using machine = emptyMachine();
  const flags = 'fpu '.repeat(200);
  const blocks = Array.from({ length: 384 }, (_, n) => `processor\t: ${n}\nflags\t: ${flags}\n\n`);
  machine.write('proc/cpuinfo', blocks.join(''));
  assert.equal(readHost(machine.roots).cpu_logical_count, 384);
});
