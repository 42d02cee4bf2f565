import { execFile } from 'node:child_process';
import { readFile, readlink } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * What tells a running process from a later one with the same id: when it started. Null when no such process runs;
 * one that has ended and waits for its parent to notice (a zombie) does not run.
 */
export async function identifyProcess(pid: number): Promise<string | null> {
  if (!processExists(pid)) return null;
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid);
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: it runs under another account.
    return hasCode(error, 'EPERM');
  }
}

/** The fields that follow the command in /proc/<pid>/stat, of which the command itself may hold anything (proc(5)). */
const STATE_FIELD = 0;
const START_TIME_FIELD = 19;

async function identifyByProc(pid: number): Promise<string | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const state = fields[STATE_FIELD];
    return state === 'Z' || state === 'X' ? null : (fields[START_TIME_FIELD] ?? null);
  } catch (error) {
    if (hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH')) return null;
    throw error;
  }
}

async function identifyByPs(pid: number): Promise<string | null> {
  try {
    const { stdout } = await run('ps', ['-o', 'lstart=', '-p', String(pid)]);
    return stdout.trim() || null;
  } catch {
    // ps ends with 1 when there is no such process.
    return null;
  }
}

/** Whether a process is a PostgreSQL that works in the directory: its main process makes that its own at the start. */
export async function isPostgresIn(pid: number, directory: string): Promise<boolean> {
  if ((await identifyProcess(pid)) === null) return false;
  try {
    if (process.platform === 'linux') return (await readlink(`/proc/${pid}/cwd`)) === directory;
    const { stdout } = await run('ps', ['-o', 'comm=', '-p', String(pid)]);
    return stdout.trim().endsWith('postgres');
  } catch {
    // It ended meanwhile, or belongs to somebody whose processes we may not look at: not ours.
    return false;
  }
}

/** Sends a signal; a process that is gone already is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}

/** Whether an error of the system carries this code, e.g. ENOENT. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
