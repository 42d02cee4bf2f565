import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { copyMachine, emptyMachine } from '../../test/machine.ts';
import { MountProber } from '../probe/mount-prober.ts';
import type { Space } from '../probe/statfs-worker.ts';
import type { Roots } from '../roots.ts';

import { openFilesystemsCollector } from './filesystems.ts';

const disk: Space = {
  frsize: 4096,
  blocks: 1000,
  bfree: 400,
  bavail: 350,
  files: 200,
  ffree: 150,
};

/** Local mounts return the space of the test at once; network mounts when the test answers. */
function open(roots: Roots, local: (mountPoint: string) => Space | null = () => disk) {
  const clock = { ms: 0 };
  const answers: ((space: Space | null) => void)[] = [];
  const prober = new MountProber(
    () => clock.ms,
    (answer) => {
      answers.push(answer);
      return { request: () => undefined, stop: () => undefined };
    },
  );
  const collector = openFilesystemsCollector(roots, prober, local);
  return { clock, answers, collector };
}

test('reports bytes and the usage of df, without bind mounts and virtual filesystems', () => {
  using machine = copyMachine('bare-vm');
  assert.deepEqual(open(machine.roots).collector.collect(0), [
    {
      mount_point: '/',
      device: '/dev/vda1',
      type: 'ext4',
      read_only: false,
      total_bytes: 4_096_000,
      used_bytes: 2_457_600,
      free_bytes: 1_638_400,
      available_bytes: 1_433_600,
      usage_ratio: 0.6316,
      inodes_total: 200,
      inodes_used: 50,
      inodes_usage_ratio: 0.25,
    },
  ]);
});

test('reports btrfs subvolumes as one filesystem without inodes, and leaves out mounts of desktops', () => {
  using machine = copyMachine('laptop');
  const asked: string[] = [];
  const { collector } = open(machine.roots, (mountPoint) => {
    asked.push(mountPoint);
    return { ...disk, files: 0, ffree: 0 };
  });
  const part = collector.collect(0);
  assert.deepEqual(
    part?.map((each) => [each.mount_point, each.type, each.read_only, each.inodes_total]),
    [
      ['/', 'btrfs', false, undefined],
      ['/boot/efi', 'vfat', false, undefined],
      ['/mnt/usb', 'ext4', true, undefined],
    ],
  );
  assert.deepEqual(asked, ['/', '/boot/efi', '/mnt/usb']);
});

test('reports each ZFS dataset, and no mounted snapshots', () => {
  using machine = copyMachine('zfs');
  const part = open(machine.roots).collector.collect(0);
  assert.deepEqual(
    part?.map((each) => [each.mount_point, each.device]),
    [
      ['/', 'rpool/ROOT/debian'],
      ['/home', 'rpool/home'],
    ],
  );
});

test('reports a network mount by the prober: absent before its answer, stale while it hangs', () => {
  using machine = copyMachine('laptop');
  const { clock, answers, collector } = open(machine.roots, (mountPoint) => {
    assert.notEqual(mountPoint, '/mnt/photo archive');
    return disk;
  });
  const nas = () =>
    collector
      .collect(clock.ms)
      ?.find(({ mount_point: mountPoint }) => mountPoint === '/mnt/photo archive');
  assert.equal(nas(), undefined);
  answers[0]?.(disk);
  assert.deepEqual(
    [nas()?.network, nas()?.stale, nas()?.total_bytes],
    [true, undefined, 4_096_000],
  );
  clock.ms = 5_000;
  assert.equal(nas()?.stale, undefined);
  clock.ms = 7_500;
  assert.deepEqual([nas()?.stale, nas()?.total_bytes], [true, 4_096_000]);
  assert.equal(collector.collect(7_500)?.length, 4, 'the others are still shown');
});

test('never reads FUSE disks and mounts below network mounts on the main thread', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/self/mountinfo',
    [
      '22 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '23 22 0:50 / /home rw - nfs4 nas:/home rw',
      '24 23 8:17 / /home/local rw - ext4 /dev/sdb1 rw',
      '25 22 8:33 / /home-backup rw - ext4 /dev/sdc1 rw',
      '26 22 8:49 / /mnt/stick rw - fuseblk /dev/sdd1 rw',
      '',
    ].join('\n'),
  );
  const asked: string[] = [];
  const { clock, collector } = open(machine.roots, (mountPoint) => {
    asked.push(mountPoint);
    return disk;
  });
  collector.collect(0);
  assert.deepEqual(asked, ['/', '/home-backup']);
  // The mounts are probed one after the other, each with its own deadline.
  for (const ms of [2_500, 5_000, 7_500, 10_000]) collector.collect((clock.ms = ms));
  assert.deepEqual(
    collector.collect(10_000)?.map((each) => [each.mount_point, each.network, each.stale]),
    [
      ['/', undefined, undefined],
      ['/home', true, true],
      ['/home-backup', undefined, undefined],
      ['/home/local', undefined, true],
      ['/mnt/stick', undefined, true],
    ],
  );
});

test('reports a mount that never answered as stale without figures', () => {
  using machine = copyMachine('laptop');
  const { clock, collector } = open(machine.roots);
  collector.collect(0);
  clock.ms = 2_500;
  const nas = collector.collect(2_500)?.find(({ network }) => network === true);
  assert.deepEqual(nas, {
    mount_point: '/mnt/photo archive',
    device: 'nas:/photos',
    type: 'nfs4',
    read_only: false,
    network: true,
    stale: true,
  });
});

test('reports overlay root and volumes in a container, without bound files', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/self/mountinfo',
    [
      '29 1 0:50 / / rw - overlay overlay rw',
      '30 29 254:1 /docker/1/hosts /etc/hosts rw - ext4 /dev/vda1 rw',
      '31 29 254:1 /srv/data /var/lib/data rw - ext4 /dev/vda1 rw',
      '',
    ].join('\n'),
  );
  assert.deepEqual(
    open(machine.roots)
      .collector.collect(0)
      ?.map((each) => each.mount_point),
    ['/', '/var/lib/data'],
  );
});

test('does not report read-only bind mounts of systemd as read-only filesystems', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/self/mountinfo',
    [
      '22 1 254:1 / / ro,relatime shared:1 - ext4 /dev/vda1 rw',
      '23 22 254:2 / /home ro,relatime shared:2 - ext4 /dev/vdb1 rw',
      '24 22 254:3 / /mnt/archive ro,relatime shared:3 - ext4 /dev/vdc1 ro',
      '25 22 254:1 /tmp/systemd-private-1-latchkey-agent.service-2/tmp /tmp rw - ext4 /dev/vda1 rw',
      '',
    ].join('\n'),
  );
  assert.deepEqual(
    open(machine.roots)
      .collector.collect(0)
      ?.map((each) => [each.mount_point, each.read_only]),
    [
      ['/', false],
      ['/home', false],
      ['/mnt/archive', true],
    ],
  );
});

test('prefers the root of a filesystem to a bound part', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/self/mountinfo',
    '22 1 8:1 /part /b rw - ext4 /dev/sda1 rw\n23 22 8:1 / /mnt/disk rw - ext4 /dev/sda1 rw\n',
  );
  assert.deepEqual(
    open(machine.roots)
      .collector.collect(0)
      ?.map((each) => each.mount_point),
    ['/mnt/disk'],
  );
});

test('leaves out a mount below another one at the same point', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/self/mountinfo',
    '22 1 8:1 / /data rw - ext4 /dev/sda1 rw\n23 22 8:2 / /data rw - xfs /dev/sdb1 rw\n',
  );
  assert.deepEqual(
    open(machine.roots)
      .collector.collect(0)
      ?.map(({ device }) => device),
    ['/dev/sdb1'],
  );
});

test('leaves out FUSE mounts without blocks, unless they are stale', () => {
  using machine = copyMachine('laptop');
  const { clock, answers, collector } = open(machine.roots);
  const nas = () => collector.collect(clock.ms)?.find(({ network }) => network === true);
  nas();
  answers[0]?.({ ...disk, blocks: 0, bfree: 0, bavail: 0 });
  assert.equal(nas(), undefined);
  clock.ms = 5_000;
  nas();
  clock.ms = 7_500;
  assert.deepEqual([nas()?.stale, nas()?.total_bytes], [true, undefined]);
});

test('never reports negative figures when more is free than there is', () => {
  using machine = copyMachine('bare-vm');
  const lie: Space = { ...disk, bfree: 2_000, bavail: 2 ** 52, ffree: 900 };
  const [root] = open(machine.roots, () => lie).collector.collect(0) ?? [];
  assert.deepEqual(
    [root?.used_bytes, root?.free_bytes, root?.available_bytes, root?.usage_ratio],
    [0, 4_096_000, 4_096_000, 0],
  );
  assert.deepEqual([root?.inodes_used, root?.inodes_usage_ratio], [0, 0]);
});

test('keeps other filesystems when one fails', () => {
  using machine = emptyMachine();
  const loop = join(machine.roots.proc, 'loop');
  machine.write(
    'proc/self/mountinfo',
    `22 1 8:1 / / rw - ext4 /dev/sda1 rw\n23 22 8:2 / ${loop} rw - ext4 /dev/sdb1 rw\n`,
  );
  symlinkSync(loop, loop);
  const part = openFilesystemsCollector(machine.roots, new MountProber(() => 0)).collect(0);
  assert.deepEqual(
    part?.map((each) => each.mount_point),
    ['/'],
  );
});

test('leaves out filesystems that are missing or have no blocks', () => {
  using machine = copyMachine('bare-vm');
  assert.equal(open(machine.roots, () => null).collector.collect(0), null);
  assert.equal(open(machine.roots, () => ({ ...disk, blocks: 0 })).collector.collect(0), null);
  using empty = emptyMachine();
  assert.equal(open(empty.roots).collector.collect(0), null);
});

test('distinguishes FUSE mounts of the device /dev/fuse', () => {
  using machine = emptyMachine();
  machine.write(
    'proc/self/mountinfo',
    '30 22 0:40 / /mnt/a rw - fuse /dev/fuse rw\n31 22 0:41 / /mnt/b rw - fuse /dev/fuse rw\n',
  );
  const { collector, answers } = open(machine.roots);
  collector.collect(0);
  // They are probed one after the other, by the same worker.
  for (const answer of [...answers, ...answers]) answer(disk);
  const points = collector.collect(10_000)?.map(({ mount_point }) => mount_point);
  assert.deepEqual(points, ['/mnt/a', '/mnt/b']);
});
