import { existsSync, readdirSync, readFileSync } from 'node:fs';

/** The unit of the times, `sysconf(_SC_CLK_TCK)`: 100 on every architecture of Linux. */
const TICKS_PER_SECOND = 100;

/** The fields of `/proc/<pid>/stat` after the name (proc_pid_stat(5)). */
const PARENT = 1;
/** User and system time of the process, then of the children that it waited for. */
const TIMES = [11, 12, 13, 14] as const;

interface ProcessTimes {
  readonly id: number;
  readonly parent: number;
  readonly ticks: number;
}

/**
 * Returns the processor time of a process and its descendants, also of those that ended and were waited for.
 * @returns null where the system is not Linux
 */
export function readProcessorSeconds(root: number): number | null {
  if (!existsSync('/proc/self/stat')) return null;
  const processes = readdirSync('/proc').filter(isNumber).flatMap(readTimes);
  const family = new Set([root]);
  // A set is iterated to its end, with the ids added in the loop.
  for (const id of family) {
    for (const each of processes) if (each.parent === id) family.add(each.id);
  }
  const ticks = processes.filter(({ id }) => family.has(id)).map((each) => each.ticks);
  return ticks.reduce((sum, each) => sum + each, 0) / TICKS_PER_SECOND;
}

function isNumber(name: string): boolean {
  return /^\d+$/.test(name);
}

/** Returns nothing for a process that has ended. */
function readTimes(id: string): ProcessTimes[] {
  try {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    // The name is in parentheses, and may contain some.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const ticks = TIMES.reduce((sum, index) => sum + Number(fields[index]), 0);
    return [{ id: Number(id), parent: Number(fields[PARENT]), ticks }];
  } catch {
    return [];
  }
}
