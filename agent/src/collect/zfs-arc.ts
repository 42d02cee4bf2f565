import { join } from 'node:path';

import { Scanner } from '../parse/scanner.ts';
import { KeptFile } from '../read/kept-file.ts';
import type { Roots } from '../roots.ts';

/** The cache of ZFS, which the kernel counts as memory in use. */
export interface ArcSize {
  readonly sizeBytes: number;
  /** What it gives back when programs need memory: all above its lower limit. */
  readonly reclaimableBytes: number;
}

/** Reads arcstats of ZFS on Linux (lines of name, type, value); null on machines without ZFS. */
export function openArcReader(roots: Roots): { read(): ArcSize | null; close(): void } {
  const file = new KeptFile(join(roots.proc, 'spl/kstat/zfs/arcstats'));
  return {
    read() {
      const bytes = file.read();
      return bytes === null ? null : parseArcStats(bytes);
    },
    close: () => file.close(),
  };
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
