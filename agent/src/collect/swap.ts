import { join } from 'node:path';

import type { AgentSwap } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { keys, parseKeyValues } from '../parse/key-values.ts';
import { present } from '../present.ts';
import { Rates, round, toRatio } from '../rate.ts';
import { KeptFile } from '../read/kept-file.ts';
import { readPageSizeBytes } from '../read/page-size.ts';
import type { Roots } from '../roots.ts';

const SIZES = keys('SwapTotal', 'SwapFree');
const PAGES = keys('pswpin', 'pswpout');

/** Swap, from /proc/meminfo and /proc/vmstat; null on a machine without swap. */
export function openSwapCollector(roots: Roots): Collector<AgentSwap> {
  const sizes = new KeptFile(join(roots.proc, 'meminfo'));
  const pages = new KeptFile(join(roots.proc, 'vmstat'));
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
