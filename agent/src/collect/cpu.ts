import { join } from 'node:path';

import type { AgentCpu } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { present, toRatio } from '../metric-values.ts';
import { Scanner } from '../parse/scanner.ts';
import type { BackgroundReader } from '../read/background-reader.ts';
import { KernelFile } from '../read/kernel-file.ts';
import type { Roots } from '../roots.ts';
import { openFrequencies } from './cpu-frequency.ts';

type Shares = NonNullable<AgentCpu['shares']>;

/** Collects the processor time of the machine and of each core from /proc/stat, and the clocks. */
export function openCpuCollector(roots: Roots, reader: BackgroundReader): Collector<AgentCpu> {
  const file = new KernelFile(join(roots.proc, 'stat'));
  const frequencies = openFrequencies(roots, reader);
  let total: CpuTimes | null = null;
  let cores: ReadonlyMap<number, CpuTimes> = new Map();
  return {
    collect(atMs) {
      const bytes = file.read();
      const now = bytes === null ? null : parseCpuTimes(bytes);
      if (now === null || now.total === null || now.cores.size === 0) return null;
      const hertz = frequencies.collect(atMs) ?? new Map<number, number>();
      const shares = compareTimes(total, now.total);
      const part = present({
        logical_count: now.cores.size,
        usage_ratio: usageOf(shares),
        shares,
        times: now.total,
        frequency_hertz: meanOf([...hertz.values()]),
        cores: [...now.cores].map(([core, times]) =>
          present({
            core,
            usage_ratio: usageOf(compareTimes(cores.get(core) ?? null, times)),
            times,
            frequency_hertz: hertz.get(core) ?? null,
          }),
        ),
      });
      // Drops cores that went offline: their counters have no baseline when they return.
      ({ total, cores } = now);
      return part;
    },
    close() {
      file.close();
      frequencies.close?.();
    },
  };
}

/** Returns the shares of the time between two readings; null without a baseline, and when no time passed. */
function compareTimes(before: CpuTimes | null, after: CpuTimes): Shares | null {
  if (before === null) return null;
  // Iowait is an estimate that may fall, and counters may be reset: negative differences count as 0.
  const growth = (mode: keyof CpuTimes): number => Math.max(0, after[mode] - before[mode]);
  const user = growth('user_seconds_total');
  const nice = growth('nice_seconds_total');
  const system = growth('system_seconds_total');
  const iowait = growth('iowait_seconds_total');
  const interrupt = growth('interrupt_seconds_total');
  const steal = growth('steal_seconds_total');
  const idle = growth('idle_seconds_total');
  const all = user + nice + system + iowait + interrupt + steal + idle;
  if (all === 0) return null;
  return {
    user_ratio: toRatio(user / all),
    nice_ratio: toRatio(nice / all),
    system_ratio: toRatio(system / all),
    iowait_ratio: toRatio(iowait / all),
    interrupt_ratio: toRatio(interrupt / all),
    steal_ratio: toRatio(steal / all),
    idle_ratio: toRatio(idle / all),
  };
}

function usageOf(shares: Shares | null): number | null {
  return shares === null ? null : toRatio(1 - shares.idle_ratio - shares.iowait_ratio);
}

function meanOf(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

/** Seconds that a core spent in each mode since boot; the modes do not overlap. */
type CpuTimes = AgentCpu['times'];

interface CpuTable {
  /** Sum of all cores; null in a table without that line. */
  readonly total: CpuTimes | null;
  /** The online cores, by number. */
  readonly cores: ReadonlyMap<number, CpuTimes>;
}

/** USER_HZ: 100 on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Parses the `cpu` lines at the beginning of /proc/stat (proc_stat(5)). The kernel includes the guest columns in user and nice.
 */
function parseCpuTimes(bytes: Buffer): CpuTable {
  const scanner = new Scanner(bytes);
  const cores = new Map<number, CpuTimes>();
  let total: CpuTimes | null = null;
  while (!scanner.isAtEnd()) {
    const name = scanner.readWord();
    if (!name.startsWith('cpu')) break;
    const times = readTimes(scanner);
    if (name === 'cpu') total = times;
    else cores.set(Number(name.slice(3)), times);
    scanner.skipLine();
  }
  return { total, cores };
}

function readTimes(scanner: Scanner): CpuTimes {
  const [user, nice, system, idle, iowait] = [next(), next(), next(), next(), next()];
  return {
    user_seconds_total: user,
    nice_seconds_total: nice,
    system_seconds_total: system,
    iowait_seconds_total: iowait,
    interrupt_seconds_total: next() + next(),
    steal_seconds_total: next(),
    idle_seconds_total: idle,
  };

  /** Old kernels have fewer columns. */
  function next(): number {
    return (scanner.readNumber() || 0) / TICKS_PER_SECOND;
  }
}
