import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const KIB = 1024;

/** `sysconf(_SC_CLK_TCK)`: in how many parts of a second the kernel counts processor time. */
const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** What a process and all that it started have used, by proc(5). */
export interface Usage {
  readonly cpuSeconds: number;
  /** Sum over the processes: pages that several of them share count for each. */
  readonly residentBytes: number;
  /**
   * Pages of no file: heaps, stacks, and what was written of the program's own data. Pages of files the kernel can drop and
   * read again, though it calls them private where only one process maps a file, and dirty until a fresh file is on the disk.
   */
  readonly privateBytes: number;
  readonly processes: number;
}

/** Adds up a process and its descendants. Processor time of those that have ended is in their parents' figures. */
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

/** The fields from the state on, which stand after the name in brackets; none of a process that has ended. */
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
