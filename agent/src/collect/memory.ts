import { join } from 'node:path';

import type { AgentMemory, AgentSwap } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { present, Rates, round, toRatio } from '../metric-values.ts';
import { keys, parseKeyValues, Scanner } from '../parse/scanner.ts';
import { KernelFile, readWhole } from '../read/kernel-file.ts';
import { readPageSizeBytes } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';
import { parseMountInfo } from './mounts.ts';

const FIELDS = keys(
  'MemTotal',
  'MemFree',
  'MemAvailable',
  'Buffers',
  'Cached',
  'Active',
  'Dirty',
  'Shmem',
  'SReclaimable',
);

type Field = typeof FIELDS extends ReadonlyMap<string, infer Name> ? Name : never;

/** Collects memory from /proc/meminfo, and the cache of ZFS. */
export function openMemoryCollector(roots: Roots): Collector<AgentMemory> {
  const file = new KernelFile(join(roots.proc, 'meminfo'));
  const arc = openArcReader(roots);
  return {
    collect() {
      const arcSize = arc.read();
      const bytes = file.read();
      return bytes === null ? null : describeMemory(parseKeyValues(bytes, FIELDS), arcSize);
    },
    close() {
      file.close();
      arc.close();
    },
  };
}

function describeMemory(
  fields: ReadonlyMap<Field, number>,
  arc: ArcSize | null,
): AgentMemory | null {
  const total = fields.get('MemTotal') ?? 0;
  const free = fields.get('MemFree') ?? null;
  if (total === 0 || free === null) return null;
  const available = Math.min(total, readAvailable(fields, free) + (arc?.reclaimableBytes ?? 0));
  return present({
    total_bytes: total,
    used_bytes: total - available,
    available_bytes: available,
    usage_ratio: toRatio(1 - available / total),
    free_bytes: free,
    buffers_bytes: fields.get('Buffers') ?? 0,
    cached_bytes: fields.get('Cached') ?? 0,
    active_bytes: fields.get('Active') ?? null,
    shared_bytes: fields.get('Shmem') ?? null,
    slab_reclaimable_bytes: fields.get('SReclaimable') ?? null,
    dirty_bytes: fields.get('Dirty') ?? null,
    zfs_arc_bytes: arc?.sizeBytes ?? null,
  });
}

/** Returns available memory; for kernels before 3.14, which do not estimate it, computed as `free` did. */
function readAvailable(fields: ReadonlyMap<Field, number>, free: number): number {
  const caches = (fields.get('Buffers') ?? 0) + (fields.get('Cached') ?? 0);
  const slab = fields.get('SReclaimable') ?? 0;
  // The lines are not read atomically, so a difference may be negative.
  const estimate = Math.max(0, free + caches + slab - (fields.get('Shmem') ?? 0));
  return fields.get('MemAvailable') ?? estimate;
}

const SIZES = keys('SwapTotal', 'SwapFree');
const PAGES = keys('pswpin', 'pswpout');

/** Collects swap from /proc/meminfo and /proc/vmstat; null without swap. */
export function openSwapCollector(roots: Roots): Collector<AgentSwap> {
  const sizes = new KernelFile(join(roots.proc, 'meminfo'));
  const pages = new KernelFile(join(roots.proc, 'vmstat'));
  const pageSizeBytes = readPageSizeBytes(roots);
  const rates = new Rates<'in' | 'out'>();

  function readMoved(atMs: number) {
    const bytes = pageSizeBytes === null ? null : pages.read();
    if (bytes === null || pageSizeBytes === null) return {};
    const counts = parseKeyValues(bytes, PAGES);
    const [pagesIn, pagesOut] = [counts.get('pswpin'), counts.get('pswpout')];
    if (pagesIn === undefined || pagesOut === undefined) return {};
    const [inBytes, outBytes] = [pagesIn * pageSizeBytes, pagesOut * pageSizeBytes];
    return present({
      in_bytes_per_second: round(rates.next('in', inBytes, atMs)),
      out_bytes_per_second: round(rates.next('out', outBytes, atMs)),
      in_bytes_total: inBytes,
      out_bytes_total: outBytes,
    });
  }

  return {
    collect(atMs) {
      const bytes = sizes.read();
      const fields = bytes === null ? null : parseKeyValues(bytes, SIZES);
      const total = fields?.get('SwapTotal') ?? 0;
      if (total === 0) return null;
      const free = Math.min(total, fields?.get('SwapFree') ?? total);
      const used = total - free;
      return {
        total_bytes: total,
        used_bytes: used,
        free_bytes: free,
        usage_ratio: toRatio(used / total),
        ...readMoved(atMs),
      };
    },
    close() {
      sizes.close();
      pages.close();
    },
  };
}

/** The cache of ZFS, which the kernel counts as memory in use. */
interface ArcSize {
  readonly sizeBytes: number;
  /** The bytes that it frees when programs need memory: all above its lower limit. */
  readonly reclaimableBytes: number;
}

/** Opens arcstats of ZFS on Linux (lines of name, type, value); reads null without ZFS, and in LXC containers. */
function openArcReader(roots: Roots): { read(): ArcSize | null; close(): void } {
  const file = new KernelFile(join(roots.proc, 'spl/kstat/zfs/arcstats'));
  const isOfHost = hasOwnMemoryTable(roots);
  return {
    read() {
      if (isOfHost) return null;
      const bytes = file.read();
      return bytes === null ? null : parseArcStats(bytes);
    },
    close: () => file.close(),
  };
}

/** lxcfs mounts a container's own meminfo, but arcstats remain those of the host. */
function hasOwnMemoryTable(roots: Roots): boolean {
  const mounts = readWhole(join(roots.proc, 'self/mountinfo'), String) ?? '';
  return parseMountInfo(mounts).some(({ mountPoint }) => mountPoint === '/proc/meminfo');
}

function parseArcStats(bytes: Buffer): ArcSize | null {
  const values = { size: Number.NaN, c_min: Number.NaN };
  for (const scanner = new Scanner(bytes); !scanner.isAtEnd(); scanner.skipLine()) {
    const name = scanner.readWord();
    if (name !== 'size' && name !== 'c_min') continue;
    scanner.skipWords(1);
    values[name] = scanner.readNumber();
  }
  if (Number.isNaN(values.size)) return null;
  const reclaimableBytes = Math.max(0, values.size - (values.c_min || 0));
  return { sizeBytes: values.size, reclaimableBytes };
}
