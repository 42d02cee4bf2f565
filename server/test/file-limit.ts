import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Why the limit of open files of a process cannot be changed here, as a clause; null: it can. */
export async function findFileLimitObstacle(): Promise<string | null> {
  try {
    await run('prlimit', ['--version']);
    return null;
  } catch {
    return 'prlimit of util-linux is not installed';
  }
}

/** Returns the limit of open files of a process. */
export async function readFileLimit(pid: number): Promise<number> {
  return Number(await runPrlimit(pid, ['--nofile', '--output', 'SOFT', '--noheadings']));
}

/** Sets the limit; up to the hard one, which stays. */
export async function setFileLimit(pid: number, limit: number): Promise<void> {
  await runPrlimit(pid, [`--nofile=${limit}:`]);
}

/** Runs it as the owner of the process: root would need CAP_SYS_RESOURCE, which containers lack. */
async function runPrlimit(pid: number, args: readonly string[]): Promise<string> {
  const { gid, uid } = await stat(`/proc/${pid}`);
  return (await run('prlimit', ['--pid', String(pid), ...args], { gid, uid })).stdout;
}
