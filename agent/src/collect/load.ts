import { join } from 'node:path';

import type { AgentLoad } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { Scanner } from '../parse/scanner.ts';
import { KernelFile } from '../read/kernel-file.ts';
import { parseNumber } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

/** `0.42 0.36 0.30 2/171 4242`: the averages, runnable of all threads, and the newest process (proc_loadavg(5)). */
const LOAD = /^(\d+\.\d+) (\d+\.\d+) (\d+\.\d+) (\d+)\/(\d+) /;

/** Collects load averages from /proc/loadavg. */
export function openLoadCollector(roots: Roots): Collector<AgentLoad> {
  const file = new KernelFile(join(roots.proc, 'loadavg'));
  return {
    collect() {
      const match = LOAD.exec(file.read()?.toString('latin1') ?? '');
      if (match === null) return null;
      const [, load_1m, load_5m, load_15m, runnable_tasks, tasks] = match.map(Number);
      if (load_1m === undefined || load_5m === undefined || load_15m === undefined) return null;
      if (runnable_tasks === undefined || tasks === undefined) return null;
      return { load_1m, load_5m, load_15m, runnable_tasks, tasks };
    },
    close: () => file.close(),
  };
}

/** Collects the seconds since boot from /proc/uptime. */
export function openUptimeCollector(roots: Roots): Collector<number> {
  const file = new KernelFile(join(roots.proc, 'uptime'));
  return {
    collect() {
      const bytes = file.read();
      return bytes === null ? null : parseNumber(new Scanner(bytes).readWord());
    },
    close: () => file.close(),
  };
}
