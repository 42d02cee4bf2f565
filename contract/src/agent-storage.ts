import { type Static, Type } from 'typebox';
import { amount, measure, name, object, ratio } from './agent-schema.ts';
import { dateTime, oneOf } from './schema.ts';

const { Optional, Array: List } = Type;

/** What is read from a disk and written to it. */
export const AgentDisk = object({
  device: name('As in /dev.', 'nvme0n1'),
  kind: oneOf(['disk', 'mapper', 'raid'], {
    description: '`mapper` and `raid` lie on other devices: never add them to those.',
  }),
  name: Optional(name('What a mapped device is called.', 'vg0-root')),
  members: Optional(List(Type.String(), { description: 'What a mapper or raid lies on.' })),
  size_bytes: Optional(amount('Its size.')),
  read_bytes_per_second: Optional(amount('Read.')),
  write_bytes_per_second: Optional(amount('Written.')),
  reads_per_second: Optional(amount('Reads completed.')),
  writes_per_second: Optional(amount('Writes completed.')),
  read_latency_seconds: Optional(amount('Mean of the reads completed, left out where none was.')),
  write_latency_seconds: Optional(amount('Mean of the writes completed, left out where none was.')),
  busy_ratio: Optional(ratio('Time with a request under way; a fast disk at 1 can do more.')),
  queue_depth: Optional(amount('Requests under way, on average.')),
  read_bytes_total: amount('Since boot.'),
  written_bytes_total: amount('Since boot.'),
  reads_total: amount('Since boot.'),
  writes_total: amount('Since boot.'),
});
export type AgentDisk = Static<typeof AgentDisk>;

/** What a disk says of itself (SMART), as smartctl tells it. It is asked seldom, and a disk that sleeps is not woken up. */
export const AgentDiskHealth = object({
  device: name('As in /dev.', 'sda'),
  read_at: dateTime({ description: 'When the disk said so, by the clock of the machine.' }),
  model: Optional(name('As its maker calls it.', 'WDC WD40EFRX-68N32N0')),
  passed: Optional(Type.Boolean({ description: 'How the disk judges itself.' })),
  failing: Type.Boolean({ description: 'It says that it is failing.' }),
  prefail_now: Type.Boolean({ description: 'A figure that tells of a failure is at its limit.' }),
  prefail_past: Type.Boolean({ description: 'A figure was at its limit once.' }),
  error_log: Type.Boolean({ description: 'It has written down errors, old ones included.' }),
  self_test_failed: Type.Boolean({ description: 'It failed a test of itself.' }),
  temperature_celsius: Optional(measure('When it was asked.')),
  power_on_seconds: Optional(amount('How long it was switched on in its life.')),
  wear_ratio: Optional(amount('Used of the writing that it was made for; may be above 1.')),
  spare_ratio: Optional(ratio('Spare blocks that are left.')),
  reallocated_sectors: Optional(amount('Broken, and replaced by spare ones.')),
  pending_sectors: Optional(amount('Cannot be read, and wait to be replaced.')),
  media_errors: Optional(amount('Data that it could not give back (NVMe).')),
});
export type AgentDiskHealth = Static<typeof AgentDiskHealth>;

/** The space of one mount. */
export const AgentFilesystem = object({
  mount_point: name('Where it is mounted.', '/home'),
  device: name('What is mounted.', '/dev/sda1'),
  type: name('As the kernel calls it.', 'ext4'),
  read_only: Type.Boolean(),
  network: Optional(
    Type.Boolean({ description: 'True when another machine keeps it, or a program (FUSE).' }),
  ),
  stale: Optional(
    Type.Boolean({ description: 'True while it does not answer: old figures, or none.' }),
  ),
  total_bytes: Optional(amount('Its size.')),
  used_bytes: Optional(amount('In use.')),
  free_bytes: Optional(amount('Not in use, what is reserved for root included.')),
  available_bytes: Optional(amount('What programs can have.')),
  usage_ratio: Optional(ratio('Used of used and available, as df says it.')),
  inodes_total: Optional(amount('Left out where there is no limit.')),
  inodes_used: Optional(amount('In use.')),
  inodes_usage_ratio: Optional(ratio('Used of total.')),
});
export type AgentFilesystem = Static<typeof AgentFilesystem>;
