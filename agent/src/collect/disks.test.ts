import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';

import { openDisksCollector } from './disks.ts';

test('reports throughput, latency and load between two snapshots', () => {
  using machine = copyMachine('bare-vm');
  const disks = openDisksCollector(machine.roots);
  assert.deepEqual(disks.collect(0), [
    {
      device: 'vda',
      kind: 'disk',
      size_bytes: 21_474_836_480,
      read_bytes_total: 40_960_000,
      written_bytes_total: 81_920_000,
      reads_total: 1000,
      writes_total: 2000,
    },
  ]);
  machine.write(
    'proc/diskstats',
    ' 254 0 vda 1010 20 80200 530 2020 40 160400 4010 0 4000 5500 0 0 0 0 10 20\n',
  );
  assert.deepEqual(disks.collect(2000), [
    {
      device: 'vda',
      kind: 'disk',
      size_bytes: 21_474_836_480,
      read_bytes_per_second: 51_200,
      write_bytes_per_second: 102_400,
      reads_per_second: 5,
      writes_per_second: 10,
      read_latency_seconds: 0.003,
      write_latency_seconds: 0.0005,
      busy_ratio: 0.5,
      queue_depth: 0.5,
      read_bytes_total: 41_062_400,
      written_bytes_total: 82_124_800,
      reads_total: 1010,
      writes_total: 2020,
    },
  ]);
});

test('leaves out latency without requests', () => {
  using machine = copyMachine('bare-vm');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  const [vda] = disks.collect(1000) ?? [];
  assert.deepEqual([vda?.reads_per_second, vda?.read_latency_seconds], [0, undefined]);
});

test('leaves out partitions, loops, memory, optical drives, ZFS volumes and boot areas, and lists members of mappers and RAIDs', () => {
  using machine = copyMachine('server');
  const part = openDisksCollector(machine.roots).collect(0) ?? [];
  assert.deepEqual(
    part.map(({ device, kind, name, members }) => [device, kind, name, members]),
    [
      ['sda', 'disk', undefined, undefined],
      ['sdb', 'disk', undefined, undefined],
      ['md0', 'raid', undefined, ['sda', 'sdb']],
      ['dm-0', 'mapper', 'vg0-root', ['md0']],
      ['nvme0n1', 'disk', undefined, undefined],
    ],
  );
});

test('marks stacked devices, and supports devices in directories of /dev', () => {
  using machine = emptyMachine();
  for (const name of ['sda', 'bcache0', 'etherd!e1.0'])
    machine.write(`sys/block/${name}/size`, '8\n');
  machine.write('sys/block/bcache0/slaves/sda/size', '8\n');
  machine.write('sys/block/bcache0/slaves/etherd!e1.0/size', '8\n');
  const lines = ['sda', 'bcache0', 'etherd/e1.0'].map(
    (device) => `   8  0 ${device} 1 0 8 1 1 0 8 1 0 1 1\n`,
  );
  machine.write('proc/diskstats', lines.join(''));
  const part = openDisksCollector(machine.roots).collect(0) ?? [];
  assert.deepEqual(
    part.map(({ device, kind, members }) => [device, kind, members]),
    [
      ['sda', 'disk', undefined],
      ['bcache0', 'mapper', ['etherd/e1.0', 'sda']],
      ['etherd/e1.0', 'disk', undefined],
    ],
  );
});

test('does not rescan at each tick for disks that are missing in the table', () => {
  using machine = copyMachine('server');
  machine.write('proc/diskstats', '   8      16 sdb 1 0 8 1 1 0 8 1 0 1 1\n');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  machine.remove('sys/block/sdb');
  assert.equal(disks.collect(1_000)?.length, 1);
  assert.equal(disks.collect(10_000), null);
});

test('leaves out one figure for one tick when its 32-bit counter wraps', () => {
  using machine = copyMachine('server');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  const line = (reads: number, busy: number) =>
    machine.write(
      'proc/diskstats',
      ` 259 0 nvme0n1 ${reads} 0 400000 1000 6000 0 800000 3000 2 ${busy} 4000\n`,
    );
  line(5100, 200);
  const wrapped = disks.collect(1000)?.find(({ device }) => device === 'nvme0n1');
  assert.deepEqual([wrapped?.reads_per_second, wrapped?.busy_ratio], [100, undefined]);
  line(5100, 450);
  assert.equal(disks.collect(2000)?.[0]?.busy_ratio, 0.25);
});

test('starts new rates for a disk that was replugged', () => {
  using machine = copyMachine('bare-vm');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  machine.write('proc/diskstats', ' 254 0 vda 5 0 40 5 0 0 0 0 0 5 5\n');
  const [vda] = disks.collect(1000) ?? [];
  assert.deepEqual(
    [vda?.reads_total, vda?.reads_per_second, vda?.busy_ratio],
    [5, undefined, undefined],
  );
});

test('drops a removed disk, and finds a new one', () => {
  using machine = copyMachine('server');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  machine.write('sys/block/sdc/size', '2048\n');
  machine.remove('sys/block/sda');
  machine.write(
    'proc/diskstats',
    '   8      16 sdb 1 0 8 1 1 0 8 1 0 1 1\n   8      32 sdc 1 0 8 1 1 0 8 1 0 1 1\n',
  );
  const names = () => disks.collect(11_000)?.map(({ device }) => device);
  assert.deepEqual(names(), ['sdb', 'sdc']);
});

test('rescans at the next tick when a disk vanishes', () => {
  using machine = copyMachine('server');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  machine.write('sys/block/sdc/size', '2048\n');
  machine.write('proc/diskstats', '   8      32 sdc 1 0 8 1 1 0 8 1 0 1 1\n');
  assert.deepEqual(disks.collect(1_000), null);
  assert.deepEqual(
    disks.collect(2_000)?.map(({ device }) => device),
    ['sdc'],
  );
});

test('leaves out the paths of a multipath NVMe disk, without rescanning at each tick', () => {
  using machine = copyMachine('server');
  machine.write('sys/block/nvme0c0n1/size', '1000\n');
  const disks = openDisksCollector(machine.roots);
  disks.collect(0);
  machine.remove('sys/block/sda');
  assert.ok(disks.collect(1_000)?.some(({ device }) => device === 'sda'));
});

test('leaves out an empty card reader', () => {
  using machine = copyMachine('bare-vm');
  machine.write('sys/block/sdz/size', '0\n');
  machine.write(
    'proc/diskstats',
    ' 254 0 vda 5 0 40 5 0 0 0 0 0 5 5\n   8 400 sdz 0 0 0 0 0 0 0 0 0 0 0\n',
  );
  assert.deepEqual(
    openDisksCollector(machine.roots)
      .collect(0)
      ?.map(({ device }) => device),
    ['vda'],
  );
});

test('prefers physical disks to empty and stacked devices at the limit', () => {
  using machine = emptyMachine();
  const names = Array.from({ length: 200 }, (_, at) => [`dm-${at}`, `nbd${at}`]).flat();
  for (const name of names)
    machine.write(`sys/block/${name}/size`, name.startsWith('nbd') ? '0\n' : '8\n');
  for (const name of ['sda', 'zz0']) machine.write(`sys/block/${name}/size`, '8\n');
  const lines = [...names, 'sda', 'zz0'].map(
    (device) => `   8  0 ${device} 1 0 8 1 1 0 8 1 0 1 1\n`,
  );
  machine.write('proc/diskstats', lines.join(''));
  const part = openDisksCollector(machine.roots).collect(0) ?? [];
  assert.equal(part.length, 128);
  assert.deepEqual(
    part.filter(({ kind }) => kind === 'disk').map(({ device }) => device),
    ['sda', 'zz0'],
  );
});

test('returns null without disks', () => {
  using machine = emptyMachine();
  assert.equal(openDisksCollector(machine.roots).collect(0), null);
});
