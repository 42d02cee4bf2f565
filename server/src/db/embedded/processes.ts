import { execFile } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

import { hasCode } from '#server/lib/unknown-values.ts';

const run = promisify(execFile);

/** A running process. A zombie, which has ended and waits for its parent, does not count as running. */
interface RunningProcess {
  /** Name of the program, without its directory. */
  readonly command: string;
  /** Distinguishes the process from a later one with the same id. */
  readonly startedAt: string;
}

/** Returns when a process started, to distinguish it from a later one with the same id; null if it does not run. */
export async function readStartTime(pid: number): Promise<string | null> {
  return (await readProcess(pid))?.startedAt ?? null;
}

/**
 * Returns whether a process is a PostgreSQL of a cluster: it has the program's name, runs as the cluster's owner, who must
 * not have root signal other accounts' processes through the lock file, and works in the cluster's directory. Root without
 * CAP_SYS_PTRACE, as in a container, cannot read the working directory; name and owner must do then.
 */
export async function isPostgresOf(pid: number, cluster: string): Promise<boolean> {
  const running = await readProcess(pid);
  if (running === null || !running.command.endsWith('postgres')) return false;
  if (process.platform !== 'linux') return true;
  const [owner, directory, working] = await Promise.all([
    statOrNull(`/proc/${pid}`),
    stat(cluster),
    statOrNull(`/proc/${pid}/cwd`),
  ]);
  if (owner?.uid !== directory.uid) return false;
  return working === null || (working.dev === directory.dev && working.ino === directory.ino);
}

async function statOrNull(path: string) {
  try {
    return await stat(path);
  } catch (error) {
    if (isGone(error) || hasCode(error, 'EACCES') || hasCode(error, 'EPERM')) return null;
    throw error;
  }
}

function readProcess(pid: number): Promise<RunningProcess | null> {
  return process.platform === 'linux' ? readFromProc(pid) : readFromPs(pid);
}

/** Fields after the command in /proc/<pid>/stat; the command itself may contain any character (proc(5)). */
const STATE_FIELD = 0;
const START_TIME_FIELD = 19;

async function readFromProc(pid: number): Promise<RunningProcess | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    const end = text.lastIndexOf(')');
    const fields = text.slice(end + 2).split(' ');
    const startedAt = fields[START_TIME_FIELD];
    if (startedAt === undefined || /[ZX]/.test(fields[STATE_FIELD] ?? '')) return null;
    return { command: text.slice(text.indexOf('(') + 1, end), startedAt };
  } catch (error) {
    if (isGone(error)) return null;
    throw error;
  }
}

async function readFromPs(pid: number): Promise<RunningProcess | null> {
  try {
    const [startedAt, command] = await Promise.all(
      ['lstart=', 'comm='].map(async (column) => {
        const { stdout } = await run('ps', ['-o', column, '-p', String(pid)]);
        return stdout.trim();
      }),
    );
    return startedAt && command ? { startedAt, command } : null;
  } catch {
    // ps exits with 1 if the process does not exist.
    return null;
  }
}

function isGone(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH');
}

/** Sends a signal; does nothing if the process has ended. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
