import { Scanner } from './scanner.ts';

/** What is read of /proc/PID/stat. */
export interface ProcessStat {
  /** The command, at most 15 bytes; a process may choose it. */
  readonly name: string;
  /** Time on processors since it began, in the 100ths of a second of the kernel. */
  readonly cpuTicks: number;
  /** With the number, what tells a process from a later one of the same number. */
  readonly startTicks: number;
  readonly residentPages: number;
}

/** Fields between the state and utime, and on to starttime and rss (proc_pid_stat(5)). */
const TO_UTIME = 11;
const STIME_TO_STARTTIME = 6;
const STARTTIME_TO_RSS = 1;

/** Reads /proc/PID/stat. The name may hold anything, brackets too, so what follows is counted from the last bracket. */
export function parseProcessStat(bytes: Buffer): ProcessStat | null {
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
