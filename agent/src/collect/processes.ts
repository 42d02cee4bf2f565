import { join } from 'node:path';

import type { AgentProcesses } from '@latchkey/contract';

import type { Collector } from '../collector.ts';
import { present, round, SHORTEST_MS } from '../metric-values.ts';
import { Scanner } from '../parse/scanner.ts';
import { listDirectory, readBytes, readPageSizeBytes } from '../read/small-file.ts';
import type { Roots } from '../roots.ts';

type Process = AgentProcesses['top_by_cpu'][number];

/** The length of each list. */
const TOP_COUNT = 10;

/** A read costs 7 µs. With more processes, the listed ones are read at each tick, and the others in rotation. */
const MAX_READS = 200;

const TICKS_PER_SECOND = 100;

interface Known {
  readonly stat: ProcessStat;
  readonly readAtMs: number;
  /** Processor time per second between the last two readings; null after the first. */
  readonly cpuCores: number | null;
}

/**
 * Collects the processes with the highest usage from /proc/PID/stat, never from cmdline, which may contain secrets. Null where
 * processes of other users are hidden (hidepid).
 */
export function openProcessesCollector(roots: Roots): Collector<AgentProcesses> {
  const pageSizeBytes = readPageSizeBytes(roots);
  let known = new Map<number, Known>();
  let top: readonly number[] = [];
  let offset = 0;

  function choosePids(pids: readonly number[]): Iterable<number> {
    if (pids.length <= MAX_READS) return pids;
    const start = offset % pids.length;
    offset = start + MAX_READS;
    return new Set([
      ...top,
      ...pids.slice(start, offset),
      ...pids.slice(0, Math.max(0, offset - pids.length)),
    ]);
  }

  function readStat(pid: number): ProcessStat | null {
    return readBytes(join(roots.proc, String(pid), 'stat'), parseProcessStat);
  }

  function readOne(pid: number, atMs: number): void {
    const stat = readStat(pid);
    if (stat === null) known.delete(pid);
    else known.set(pid, compare(known.get(pid), stat, atMs));
  }

  return {
    collect(atMs) {
      // Hidden processes are not listed (hidepid=2), or listed but unreadable (hidepid=1).
      if (readStat(1) === null) return null;
      const pids = listDirectory(roots.proc).map(Number).filter(Number.isInteger);
      const listed = new Set(pids);
      known = new Map([...known].filter(([pid]) => listed.has(pid)));
      for (const pid of choosePids(pids)) readOne(pid, atMs);
      const byCpu = takeTop(known, ({ cpuCores }) => cpuCores ?? 0);
      const byMemory = takeTop(known, ({ stat }) => stat.residentPages);
      top = [...byCpu, ...byMemory].map(([pid]) => pid);
      return {
        count: pids.length,
        top_by_cpu: byCpu.map((each) => describeProcess(each, pageSizeBytes)),
        top_by_memory: byMemory.map((each) => describeProcess(each, pageSizeBytes)),
      };
    },
  };
}

function compare(before: Known | undefined, stat: ProcessStat, atMs: number): Known {
  // The pid may have been reused.
  const isSame = before !== undefined && before.stat.startTicks === stat.startTicks;
  if (!isSame) return { stat, readAtMs: atMs, cpuCores: null };
  if (atMs - before.readAtMs < SHORTEST_MS) return { ...before, cpuCores: null };
  const seconds = (atMs - before.readAtMs) / 1000;
  const growth = Math.max(0, stat.cpuTicks - before.stat.cpuTicks);
  return { stat, readAtMs: atMs, cpuCores: growth / TICKS_PER_SECOND / seconds };
}

/** Returns the processes with the largest values; those with 0 are left out. */
function takeTop(
  known: ReadonlyMap<number, Known>,
  figureOf: (known: Known) => number,
): [number, Known][] {
  return [...known]
    .filter(([, each]) => figureOf(each) > 0)
    .sort(([, a], [, b]) => figureOf(b) - figureOf(a))
    .slice(0, TOP_COUNT);
}

function describeProcess(
  [pid, { stat, cpuCores }]: [number, Known],
  pageSizeBytes: number | null,
): Process {
  return present({
    pid,
    name: stat.name,
    cpu_cores: round(cpuCores),
    memory_bytes: pageSizeBytes === null ? null : stat.residentPages * pageSizeBytes,
  });
}

/** Fields of /proc/PID/stat. */
interface ProcessStat {
  /** The command, at most 15 bytes; a process may change it. */
  readonly name: string;
  /** Processor time since the start, in hundredths of a second. */
  readonly cpuTicks: number;
  /** Identifies a process together with its pid, which may be reused. */
  readonly startTicks: number;
  readonly residentPages: number;
}

/** Fields between the state and utime, and on to starttime and rss (proc_pid_stat(5)). */
const TO_UTIME = 11;
const STIME_TO_STARTTIME = 6;
const STARTTIME_TO_RSS = 1;

/** Parses /proc/PID/stat. The name may contain brackets, so fields are counted from the last one. */
function parseProcessStat(bytes: Buffer): ProcessStat | null {
  const start = bytes.indexOf('(');
  const end = bytes.lastIndexOf(')');
  if (start === -1 || end <= start) return null;
  const scanner = new Scanner(bytes, end + 1);
  scanner.skipWords(TO_UTIME);
  const cpuTicks = scanner.readNumber() + scanner.readNumber();
  scanner.skipWords(STIME_TO_STARTTIME);
  const startTicks = scanner.readNumber();
  scanner.skipWords(STARTTIME_TO_RSS);
  const residentPages = scanner.readNumber();
  if (Number.isNaN(cpuTicks + startTicks + residentPages)) return null;
  return { name: bytes.toString('utf8', start + 1, end), cpuTicks, startTicks, residentPages };
}
