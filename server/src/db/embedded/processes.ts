import { execFile } from 'node:child_process';
import { readFile, readlink, stat } from 'node:fs/promises';
import { promisify } from 'node:util';

import { hasCode } from '#server/lib/error-code.ts';

const run = promisify(execFile);

/**
 * What tells a running process from a later one with the same id: when it started. Null when no such process runs; one
 * that has ended and waits for its parent to notice (a zombie) is not running.
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

/** The fields that follow the command in /proc/<pid>/stat; the command itself may contain anything (proc(5)). */
const STATE_FIELD = 0;
const START_TIME_FIELD = 19;

async function identifyByProc(pid: number): Promise<string | null> {
  const { fields } = (await readProc(pid)) ?? { fields: [] };
  const state = fields[STATE_FIELD];
  return state === 'Z' || state === 'X' ? null : (fields[START_TIME_FIELD] ?? null);
}

/** What /proc/<pid>/stat tells everybody: the command, and the fields that follow it. Null when no such process runs. */
async function readProc(pid: number): Promise<{ command: string; fields: string[] } | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    const end = text.lastIndexOf(')');
    return {
      command: text.slice(text.indexOf('(') + 1, end),
      fields: text.slice(end + 2).split(' '),
    };
  } catch (error) {
    if (isGone(error)) return null;
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

/**
 * Whether a process is a PostgreSQL that works in the directory: its main process changes into it at the start.
 * @throws the system's error when that cannot be found out
 */
export async function isPostgresIn(pid: number, directory: string): Promise<boolean> {
  if ((await identifyProcess(pid)) === null) return false;
  return process.platform === 'linux' ? isPostgresByProc(pid, directory) : isPostgresByPs(pid);
}

async function isPostgresByProc(pid: number, directory: string): Promise<boolean> {
  try {
    const isThere = (await readlink(`/proc/${pid}/cwd`)) === directory;
    return isThere && (await belongsToOwner(pid, directory));
  } catch (error) {
    if (isGone(error)) return false;
    if (hasCode(error, 'EACCES') || hasCode(error, 'EPERM'))
      return isPostgresOfOwner(pid, directory);
    throw error;
  }
}

/**
 * The same, judged by what everybody may see of a process: root without CAP_SYS_PTRACE, as in a container, may not see
 * where another account's process works. PostgreSQL refuses to run under any account but its cluster's owner.
 */
async function isPostgresOfOwner(pid: number, directory: string): Promise<boolean> {
  try {
    const seen = await readProc(pid);
    return seen?.command === 'postgres' && (await belongsToOwner(pid, directory));
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** The process id stands in a file of the cluster's owner, who must not have root signal the processes of others. */
async function belongsToOwner(pid: number, directory: string): Promise<boolean> {
  const [{ uid }, cluster] = await Promise.all([stat(`/proc/${pid}`), stat(directory)]);
  return uid === cluster.uid;
}

async function isPostgresByPs(pid: number): Promise<boolean> {
  try {
    const { stdout } = await run('ps', ['-o', 'comm=', '-p', String(pid)]);
    return stdout.trim().endsWith('postgres');
  } catch {
    // ps ends with 1 when there is no such process.
    return false;
  }
}

function isGone(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ESRCH');
}

/** Sends a signal; a process that is gone already is no error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!hasCode(error, 'ESRCH')) throw error;
  }
}
