import { join } from 'node:path';

import type { AgentDisk } from '@latchkey/contract';

import { present } from '../figures.ts';
import { listDirectory, readNumber, readText } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** What does not change while a disk is there. */
export type DiskFacts = Pick<AgentDisk, 'device' | 'kind' | 'name' | 'members' | 'size_bytes'>;

/** More are not shown; disks come before what lies on them. */
const MAX_DISKS = 128;

/**
 * Not disks, or parts of disks and pools that are shown as what they lie on: memory, loops, optical and floppy drives,
 * network block devices that are not connected have a size of 0, volumes of ZFS, boot areas of memory cards, and the
 * ways to an NVMe disk that has several.
 */
const LEFT_OUT = /^(loop|ram|zram|sr|fd|zd|mtdblock)\d|^mmcblk\d+(boot|rpmb)|^nvme\d+c\d/;

const SECTOR_BYTES = 512;

/** The disks in /sys/block, which names no partitions; one without a size (an empty card reader) is none. */
export function listDisks(roots: Roots): DiskFacts[] {
  const directory = join(roots.sys, 'block');
  return listDirectory(directory)
    .filter((name) => !LEFT_OUT.test(name))
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

/** A few devices lie in a directory of /dev (`etherd/e0.1`), for which /sys writes an exclamation mark. */
function toDevice(name: string): string {
  return name.replaceAll('!', '/');
}

/** Not only the device mapper lies on other devices: so do bcache and DRBD. */
function kindOf(device: string, members: readonly string[]): AgentDisk['kind'] {
  if (/^md(\d|_)/.test(device)) return 'raid';
  return /^dm-\d/.test(device) || members.length > 0 ? 'mapper' : 'disk';
}
