import { readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second, whatever its own clock (proc(5), `USER_HZ`). */
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that a process has used, all its threads together. Linux only. */
export function readProcessorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the program's name, may contain blanks; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
