import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const KIB = 1024;

/** `sysconf(_SC_CLK_TCK)`: ticks of processor time per second. */
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** The resources of a process and its descendants (proc(5)). */
export interface Usage {
  readonly cpuSeconds: number;
  /** The sum over all processes; shared pages count for each. */
  readonly residentBytes: number;
  /**
   * Anonymous pages: heaps, stacks, and modified data. The kernel can drop and reread pages of files, although it lists them as
   * private if only one process maps the file, and as dirty until a new file is written to the disk.
   */
  readonly privateBytes: number;
  readonly processes: number;
}

/** Sums up a process and its descendants. Parents include the processor time of ended children. */
export function readUsage(pid: number): Usage {
  const family = listFamily(pid);
  const sum = (read: (pid: number) => number): number =>
    family.reduce((total, each) => total + read(each), 0);
  return {
    cpuSeconds: sum(readCpuSeconds),
    residentBytes: sum((each) => readRollup(each, 'Rss')),
    privateBytes: sum((each) => readRollup(each, 'Anonymous')),
    processes: family.length,
  };
}

function listFamily(root: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (Number.isInteger(pid)) parents.set(pid, Number(readStat(pid)[1]));
  }
  const family = [root];
  for (const each of family) {
    for (const [pid, parent] of parents) if (parent === each) family.push(pid);
  }
  return family;
}

/** Returns the fields from the state on, after the name in brackets; none for an ended process. */
function readStat(pid: number): readonly string[] {
  const text = readIfThere(`/proc/${pid}/stat`);
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** utime, stime, cutime and cstime: fields 14 to 17, of which the state is the third. */
function readCpuSeconds(pid: number): number {
  const ticks = readStat(pid).slice(11, 15).map(Number);
  return ticks.reduce((total, each) => total + each, 0) / TICKS_PER_SECOND;
}

function readRollup(pid: number, name: 'Anonymous' | 'Rss'): number {
  const text = readIfThere(`/proc/${pid}/smaps_rollup`);
  const [, kibibytes = '0'] = new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text) ?? [];
  return Number(kibibytes) * KIB;
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT' || code === 'ESRCH') return '';
    throw error;
  }
}
