import { join } from 'node:path';

import type { AgentDisk } from '@latchkey/contract';

import { present } from '../metric-values.ts';
import { listDirectory, readNumber, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** The constant fields of a disk. */
export type DiskFacts = Pick<AgentDisk, 'device' | 'kind' | 'name' | 'members' | 'size_bytes'>;

/** At most this many are shown; physical disks come first. */
const MAX_DISKS = 128;

/**
 * Devices that are not disks, or parts of other devices: memory, loops, optical and floppy drives, volumes of ZFS, boot areas of
 * memory cards, and the paths of a multipath NVMe disk.
 */
const EXCLUDED = /^(loop|ram|zram|sr|fd|zd|mtdblock)\d|^mmcblk\d+(boot|rpmb)|^nvme\d+c\d/;

const SECTOR_BYTES = 512;

/** Lists the disks in /sys/block, which has no partitions. Devices of size 0 (empty card readers) are left out. */
export function listDisks(roots: Roots): DiskFacts[] {
  const directory = join(roots.sys, 'block');
  return listDirectory(directory)
    .filter((name) => !EXCLUDED.test(name))
    .filter((name) => readNumber(join(directory, name, 'size')) !== 0)
    .map((name) => readFacts(join(directory, name), toDevice(name)))
    .sort((a, b) => rankOf(a) - rankOf(b) || a.device.localeCompare(b.device))
    .slice(0, MAX_DISKS)
    .sort((a, b) => a.device.localeCompare(b.device));
}

function rankOf({ kind }: DiskFacts): number {
  return kind === 'disk' ? 0 : 1;
}

function readFacts(directory: string, device: string): DiskFacts {
  const sectors = readNumber(join(directory, 'size'));
  const members = listDirectory(join(directory, 'slaves')).sort().map(toDevice);
  const kind = kindOf(device, members);
  return present({
    device,
    kind,
    name: kind === 'mapper' ? readText(join(directory, 'dm/name')) : null,
    members: members.length === 0 ? null : members,
    size_bytes: sectors === null ? null : sectors * SECTOR_BYTES,
  });
}

/** Some devices are in a directory of /dev (`etherd/e0.1`), which /sys writes as an exclamation mark. */
function toDevice(name: string): string {
  return name.replaceAll('!', '/');
}

/** Besides the device mapper, bcache and DRBD are stacked on other devices. */
function kindOf(device: string, members: readonly string[]): AgentDisk['kind'] {
  if (/^md(\d|_)/.test(device)) return 'raid';
  return /^dm-\d/.test(device) || members.length > 0 ? 'mapper' : 'disk';
}
