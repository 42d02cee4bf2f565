import { join } from 'node:path';

import { parseMountInfo } from '../parse/mount-info.ts';
import { Scanner } from '../parse/scanner.ts';
import { KeptFile, readWhole } from '../read/kept-file.ts';
import type { Roots } from '../roots.ts';

/** The cache of ZFS, which the kernel counts as memory in use. */
export interface ArcSize {
  readonly sizeBytes: number;
  /** What it gives back when programs need memory: all above its lower limit. */
  readonly reclaimableBytes: number;
}

/** Reads arcstats of ZFS on Linux (lines of name, type, value); null on machines without ZFS, and in containers of LXC. */
export function openArcReader(roots: Roots): { read(): ArcSize | null; close(): void } {
  const file = new KeptFile(join(roots.proc, 'spl/kstat/zfs/arcstats'));
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

/** lxcfs mounts a container's share of memory over the table of it; arcstats stay those of the host. */
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
