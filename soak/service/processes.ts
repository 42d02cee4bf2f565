import { readdir, readFile } from 'node:fs/promises';

/** A process of /proc. */
interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Lists the running processes. Linux only. */
async function listProcesses(): Promise<ListedProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
  const found = await Promise.all(pids.map(readProcess));
  return found.filter((each) => each !== null);
}

/** Returns null for a process that has ended. */
async function readProcess(pid: string): Promise<ListedProcess | null> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, 'latin1');
    const end = stat.lastIndexOf(')');
    const [state, parent] = stat.slice(end + 2).split(' ');
    if (state === 'Z') return null;
    const command = stat.slice(stat.indexOf('(') + 1, end);
    return { pid: Number(pid), parent: Number(parent), command };
  } catch {
    return null;
  }
}

/** Lists the workers of a service: its children that are no shell, as the supervisor of PostgreSQL is. */
export async function listWorkers(service: number): Promise<number[]> {
  const all = await listProcesses();
  return all
    .filter(
      ({ command, parent }) => parent === service && !/^(?:sh|dash|bash|postgres)$/u.test(command),
    )
    .map(({ pid }) => pid);
}

/** Returns the number of open file descriptors of a process. */
export async function countDescriptors(pid: number): Promise<number> {
  return (await readdir(`/proc/${pid}/fd`)).length;
}

/** Returns the resident memory of processes in MiB; those that have ended count nothing. */
export async function readMemoryMib(pids: readonly number[]): Promise<number> {
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1] ?? 0) / 1_024;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
