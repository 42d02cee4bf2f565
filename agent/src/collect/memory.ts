import { join } from 'node:path';

import type { AgentMemory } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { keys, parseKeyValues } from '../parse/key-values.ts';
import { present } from '../present.ts';
import { toRatio } from '../rate.ts';
import { KeptFile } from '../read/kept-file.ts';
import type { Roots } from '../roots.ts';
import { type ArcSize, openArcReader } from './zfs-arc.ts';

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

/** Memory, from /proc/meminfo, and what ZFS holds of it. */
export function openMemoryCollector(roots: Roots): Collector<AgentMemory> {
  const file = new KeptFile(join(roots.proc, 'meminfo'));
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

/** Kernels before 3.14 do not estimate it: there it is what `free` took for it. */
function readAvailable(fields: ReadonlyMap<Field, number>, free: number): number {
  const caches = (fields.get('Buffers') ?? 0) + (fields.get('Cached') ?? 0);
  const slab = fields.get('SReclaimable') ?? 0;
  // The lines are not of one moment, so a difference may come out below zero.
  const estimate = Math.max(0, free + caches + slab - (fields.get('Shmem') ?? 0));
  return fields.get('MemAvailable') ?? estimate;
}
