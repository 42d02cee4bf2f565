import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Linux reports processor time in hundredths of a second (proc(5), `USER_HZ`). */
const TICKS_PER_SECOND = 100;

/** Returns the processor time of all threads of a process in seconds. Linux only. */
export function readProcessorSeconds(pid: number): number {
  // utime and stime are the 14th and 15th field.
  return sumTicks(pid, 11, 13);
}

/** @param from the first field after the program's name is 0 */
function sumTicks(pid: number, from: number, until: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field, the program's name, may contain blanks.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (
    fields.slice(from, until).reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND
  );
}

/** Returns the processor time of a process of Node.js and of the processes of Node.js that it started, in seconds. */
export function readProcessorSecondsWithWorkers(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const workers = children.map(Number).filter((child) => child > 0 && isNode(child));
  return [pid, ...workers].reduce((seconds, each) => seconds + readProcessorSeconds(each), 0);
}

/** Returns the processor time of a process and all that it and its children started, in seconds. */
export function readProcessorSecondsOfTree(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return children
    .map(Number)
    .filter((child) => child > 0)
    .reduce((sum, child) => sum + readProcessorSecondsOfTree(child), readWithEnded(pid));
}

/** With the time of its children that have ended: cutime and cstime follow utime and stime. */
function readWithEnded(pid: number): number {
  return sumTicks(pid, 11, 15);
}

/** Whether a process of the same user runs this program: the embedded PostgreSQL does not. */
function isNode(pid: number): boolean {
  return readlinkSync(`/proc/${pid}/exe`) === process.execPath;
}

/** Returns the exact processor time of each thread of a process in milliseconds, by its id. Linux only. */
export function readThreadMilliseconds(pid: number): ReadonlyMap<string, number> {
  const tasks = `/proc/${pid}/task`;
  return new Map(readdirSync(tasks).map((id) => [id, readRunTime(`${tasks}/${id}/schedstat`)]));
}

/** Returns the exact processor time of each process that a process started in milliseconds, by its id. Linux only. */
export function readChildMilliseconds(pid: number): ReadonlyMap<string, number> {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  return new Map(children.map((id) => [id, readRunTime(`/proc/${id}/schedstat`)]));
}

/** The first field is in nanoseconds; 0 for a process that has ended. */
function readRunTime(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return 0;
  }
}
