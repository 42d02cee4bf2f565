import { type Static, Type } from 'typebox';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { dateTime, oneOf } from './schema.ts';

const { Optional, Array: List } = Type;

/** The I/O of a disk. */
export const AgentDisk = object({
  device: name('The name in /dev.', 'nvme0n1'),
  kind: oneOf(['disk', 'mapper', 'raid'], {
    description:
      '`mapper` and `raid` consist of other devices, so do not add their values to those.',
  }),
  name: Optional(name('The name of a mapped device.', 'vg0-root')),
  members: Optional(
    List(Type.String(), { description: 'The devices of which a mapper or raid consists.' }),
  ),
  size_bytes: Optional(amount('Size of the disk.')),
  read_bytes_per_second: Optional(amount('Bytes read.')),
  write_bytes_per_second: Optional(amount('Bytes written.')),
  reads_per_second: Optional(amount('Reads completed.')),
  writes_per_second: Optional(amount('Writes completed.')),
  read_latency_seconds: Optional(amount('Mean latency of completed reads; absent without any.')),
  write_latency_seconds: Optional(amount('Mean latency of completed writes; absent without any.')),
  busy_ratio: Optional(
    ratio('Share of time with requests in progress; a fast disk at 1 may have more capacity.'),
  ),
  queue_depth: Optional(amount('Mean number of requests in progress.')),
  read_bytes_total: amount('Since boot.'),
  written_bytes_total: amount('Since boot.'),
  reads_total: amount('Since boot.'),
  writes_total: amount('Since boot.'),
});
export type AgentDisk = Static<typeof AgentDisk>;

/** The health of a disk (SMART), as smartctl reports it. It is read rarely, and a sleeping disk is not woken up. */
export const AgentDiskHealth = object({
  device: name('The name in /dev.', 'sda'),
  read_at: dateTime({ description: 'Time of the reading, by the clock of the machine.' }),
  model: Optional(name('The model name of the vendor.', 'WDC WD40EFRX-68N32N0')),
  passed: Optional(Type.Boolean({ description: 'The overall self-assessment of the disk.' })),
  failing: Type.Boolean({ description: 'The disk reports that it is failing.' }),
  prefail_now: Type.Boolean({ description: 'A pre-fail attribute is at its threshold.' }),
  prefail_past: Type.Boolean({ description: 'An attribute was at its threshold in the past.' }),
  error_log: Type.Boolean({ description: 'The error log of the disk has entries, also old ones.' }),
  self_test_failed: Type.Boolean({ description: 'A self-test failed.' }),
  temperature_celsius: Optional(measure('Temperature at the time of the reading.')),
  power_on_seconds: Optional(amount('Total time that the disk was powered on.')),
  wear_ratio: Optional(amount('Used part of the rated write endurance; may exceed 1.')),
  spare_ratio: Optional(ratio('Remaining part of the spare blocks.')),
  reallocated_sectors: Optional(amount('Broken sectors that were replaced by spare ones.')),
  pending_sectors: Optional(amount('Unreadable sectors that wait for replacement.')),
  media_errors: Optional(amount('Unrecovered data errors (NVMe).')),
});
export type AgentDiskHealth = Static<typeof AgentDiskHealth>;

/** The space of one mount. */
export const AgentFilesystem = object({
  mount_point: name('The mount point.', '/home'),
  device: name('The mounted device.', '/dev/sda1'),
  type: name('The type in the kernel.', 'ext4'),
  read_only: Type.Boolean(),
  network: Optional(
    Type.Boolean({ description: 'True for a network mount, or one of a program (FUSE).' }),
  ),
  stale: Optional(
    Type.Boolean({ description: 'True while it does not respond: the values are old or absent.' }),
  ),
  total_bytes: Optional(amount('Size of the file system.')),
  used_bytes: Optional(amount('Space in use.')),
  free_bytes: Optional(amount('Unused space, including the space reserved for root.')),
  available_bytes: Optional(amount('Space that programs can use.')),
  usage_ratio: Optional(ratio('Used divided by used plus available, as in df.')),
  inodes_total: Optional(amount('Absent without a limit.')),
  inodes_used: Optional(amount('Inodes in use.')),
  inodes_usage_ratio: Optional(ratio('Used divided by total.')),
});
export type AgentFilesystem = Static<typeof AgentFilesystem>;
