import { Scanner } from './scanner.ts';

/** Time that a core spent in each mode since boot, in seconds; no moment is counted twice. */
export interface CpuTimes {
  readonly user: number;
  readonly nice: number;
  readonly system: number;
  readonly idle: number;
  readonly iowait: number;
  readonly interrupt: number;
  readonly steal: number;
}

export interface CpuTable {
  /** Of all cores together; null in a table without that line. */
  readonly total: CpuTimes | null;
  /** Of those that are online, by number. */
  readonly cores: ReadonlyMap<number, CpuTimes>;
}

/** USER_HZ: 100 on every architecture that Node.js runs on. */
const TICKS_PER_SECOND = 100;

/**
 * Reads the `cpu` lines at the beginning of /proc/stat (proc_stat(5)). The columns for guests are left alone: the kernel
 * has counted them as user and nice already.
 */
export function parseCpuTimes(bytes: Buffer): CpuTable {
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
  const interrupt = next() + next();
  return { user, nice, system, idle, iowait, interrupt, steal: next() };

  /** Kernels of long ago have fewer columns. */
  function next(): number {
    return (scanner.readNumber() || 0) / TICKS_PER_SECOND;
  }
}
