import { readFileSync } from 'node:fs';

/** Linux reports processor time in hundredths of a second (proc(5), `USER_HZ`). */
const TICKS_PER_SECOND = 100;

/** Returns the processor time of all threads of a process in seconds. Linux only. */
export function readProcessorSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the program's name, may contain blanks; utime and stime are the 14th and 15th.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
