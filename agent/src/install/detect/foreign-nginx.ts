import { readlinkSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, posix, relative } from 'node:path';

import { findProgram, isMissing, readText } from '../../read/small-file.ts';
import type { Listener } from '../facts.ts';
import { type Detection, listSearchPath } from '../../system/run-program.ts';

const MAX_SHOWN_CHARACTERS = 200;

/** nginx overwrites its command line with the role of the process; that of the master also contains the arguments. */
const MASTER = /^nginx: master process /u;

interface Master {
  readonly pid: number;
  readonly command: string;
}

/**
 * Compares the running nginx with the command `nginx`, by the program file, `-c` and `-p` of the master process.
 * @param mainPath the main file that `nginx -T` prints; null where nginx rejects its configuration
 * @returns why changes to that configuration would not reach the running nginx, as a sentence; null when they do, and when no
 *   master process is found
 */
export async function findForeignNginx(
  detection: Detection,
  listeners: readonly Listener[],
  mainPath: string | null,
): Promise<string | null> {
  const own = listeners.flatMap(({ process }) => (process?.name === 'nginx' ? [process.pid] : []));
  const pids = own.length > 0 ? own : await findUnitProcess(detection);
  for (const pid of new Set(pids)) {
    const master = readMaster(detection, pid);
    const difference = await compare(detection, master, mainPath);
    if (difference === null) continue;
    const shown = master.command.slice(0, MAX_SHOWN_CHARACTERS);
    return `The nginx that runs (process ${master.pid}: ${shown}) ${difference}, so changes to that configuration would not reach it.`;
  }
  return null;
}

async function findUnitProcess({ runProgram }: Detection): Promise<readonly number[]> {
  const asked = ['show', '--property=MainPID', '--value', 'nginx.service'];
  const pid = Number((await runProgram('systemctl', asked)).stdout);
  return Number.isSafeInteger(pid) && pid > 0 ? [pid] : [];
}

/**
 * Returns the master of a listener: the listener with the lowest number may be a worker after process numbers wrapped around.
 */
function readMaster({ root }: Detection, pid: number): Master {
  const command = readCommand(root, pid);
  if (!command.startsWith('nginx: worker process')) return { pid, command };
  const status = readText(join(root, '/proc', `${pid}`, 'status')) ?? '';
  const parent = Number(/^PPid:\s*(\d+)$/mu.exec(status)?.[1] ?? pid);
  return { pid: parent, command: readCommand(root, parent) };
}

function readCommand(root: string, pid: number): string {
  const text = readText(join(root, '/proc', `${pid}`, 'cmdline')) ?? '';
  return text
    .replace(/(?<!\0)\0+$/u, '')
    .replaceAll('\0', ' ')
    .replaceAll(/\p{Cc}/gu, '?')
    .trim();
}

async function compare(
  detection: Detection,
  { pid, command }: Master,
  mainPath: string | null,
): Promise<string | null> {
  const args = command.replace(MASTER, '');
  if (!isSameProgram(detection, pid)) return 'is another program than the command nginx here';
  const prefix = findArgument(args, 'p');
  const asked = findArgument(args, 'c');
  if (prefix === null && asked === null) return null;
  const builtIn = await findBuiltInPrefix(detection);
  if (prefix !== null && posix.resolve('/', prefix) !== builtIn)
    return `was started with the prefix ${prefix}, and the command nginx here uses ${builtIn ?? 'another'}`;
  if (asked === null || mainPath === null) return null;
  const path = isAbsolute(asked) ? asked : posix.join(builtIn ?? '/', asked);
  if (resolvePath(detection, path) === resolvePath(detection, mainPath)) return null;
  return `reads ${path}, and the command nginx here reads ${mainPath}`;
}

/** `-c /path` and `-c/path`, also behind `-q`. */
const ARGUMENTS = { c: /\s-q?c\s*(\S+)/u, p: /\s-q?p\s*(\S+)/u };

function findArgument(args: string, letter: keyof typeof ARGUMENTS): string | null {
  return ARGUMENTS[letter].exec(args)?.[1] ?? null;
}

async function findBuiltInPrefix({ runProgram }: Detection): Promise<string | null> {
  const { stdout, stderr } = await runProgram('nginx', ['-V']);
  const [, prefix = null] = /\s--prefix=(\S+)/u.exec(stderr + stdout) ?? [];
  return prefix === null ? null : posix.resolve('/', prefix);
}

/**
 * Compares inodes, because a container has its own program at the same path. The file of a running program may have been
 * replaced.
 */
function isSameProgram({ root }: Detection, pid: number): boolean {
  const link = join(root, '/proc', `${pid}`, 'exe');
  const path = listSearchPath().map((directory) => join(root, '/', directory));
  const command = findProgram('nginx', path.join(':'));
  try {
    const target = readlinkSync(link);
    if (command === null) return true;
    const replaced = / \(deleted\)$/u;
    if (replaced.test(target)) return target.replace(replaced, '') === stripRoot(root, command);
    const [running, here] = [statSync(link), statSync(command)];
    return running.dev === here.dev && running.ino === here.ino;
  } catch (error) {
    // The process ended, or belongs to another user.
    if (isMissing(error)) return true;
    throw error;
  }
}

/** Resolves links; a missing file keeps its path. */
function resolvePath({ root }: Detection, path: string): string {
  try {
    return stripRoot(root, join(root, '/', path));
  } catch (error) {
    if (isMissing(error)) return posix.normalize(path);
    throw error;
  }
}

function stripRoot(root: string, path: string): string {
  return join('/', relative(join(root, '/'), realpathSync(path)));
}
