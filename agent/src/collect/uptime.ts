import { join } from 'node:path';

import type { Collector } from '../collector.ts';
import { Scanner } from '../parse/scanner.ts';
import { KeptFile } from '../read/kept-file.ts';
import { parseNumber } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** Seconds since boot, from /proc/uptime. */
export function openUptimeCollector(roots: Roots): Collector<number> {
  const file = new KeptFile(join(roots.proc, 'uptime'));
  return {
    collect() {
      const bytes = file.read();
      return bytes === null ? null : parseNumber(new Scanner(bytes).readWord());
    },
    close: () => file.close(),
  };
}
