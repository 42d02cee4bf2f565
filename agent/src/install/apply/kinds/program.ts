import {
  chmodSync,
  cpSync,
  existsSync,
  lchownSync,
  lstatSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

import type { ProgramStep } from '../../steps.ts';
import { locate, type Machine, succeeds } from '../machine.ts';
import { capturePaths, restore } from '../path-state.ts';
import type { StepKind } from '../step-kind.ts';
import { syncPath } from '../../../system/write-file.ts';
import { createParents } from './file.ts';

/** With a filter Node.js copies in JavaScript, which reports a full disk as such and not as an I/O error. */
const COPY_OPTIONS = {
  recursive: true,
  preserveTimestamps: true,
  verbatimSymlinks: true,
  filter: () => true,
};

export const program: StepKind<ProgramStep> = {
  outlivesPlans: true,
  describe: ({ to }) => `Install the program into ${to}`,
  findSubject: ({ to }) => ({ to }),

  async isSatisfied({ from, to }, context) {
    const { current } = findVersions(context, to);
    if (!existsSync(current)) return false;
    return realpathSync(from) === realpathSync(current) || isSame(from, current, context);
  },

  async capture({ to = '' }, context) {
    // The previous version is moved aside, not copied, because of its size.
    return capturePaths(context, [to]);
  },

  async apply({ from, to }, context) {
    const { current, next, previous } = findVersions(context, to);
    createParents(context, to);
    rmSync(next, { recursive: true, force: true });
    cpSync(from, next, COPY_OPTIONS);
    setRootOwner(next, context.ownerId);
    syncTree(next);
    rmSync(previous, { recursive: true, force: true });
    if (existsSync(current)) renameSync(current, previous);
    renameSync(next, current);
    syncPath(dirname(current));
    context.changed.add(to);
    return {};
  },

  async undo({ subject: { to = '' }, before }, context) {
    const { current, next, previous } = findVersions(context, to);
    const [state] = before.paths;
    rmSync(next, { recursive: true, force: true });
    if (state?.type === 'absent') {
      rmSync(current, { recursive: true, force: true });
      restore(context, state);
    } else if (existsSync(previous)) {
      rmSync(current, { recursive: true, force: true });
      renameSync(previous, current);
    }
    context.changed.add(to);
  },
};

/** Removes the previous version, which only the undo of an unfinished run needs. */
export function removeOldProgram(machine: Machine, to: string): void {
  rmSync(findVersions(machine, to).previous, { recursive: true, force: true });
}

/** Returns the paths of the other versions, in the same directory so that a rename stays within a file system. */
function findVersions(machine: Machine, to: string) {
  const current = locate(machine, to);
  const parent = dirname(current);
  const next = join(parent, '.latchkey-agent-new');
  return { current, next, previous: join(parent, '.latchkey-agent-old') };
}

/** Sets owner and modes of the program, so that only root can change what root starts. */
function setRootOwner(path: string, ownerId: number): void {
  lchownSync(path, ownerId, ownerId);
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const isExecutable = stats.isDirectory() || (stats.mode & 0o100) !== 0;
  chmodSync(path, isExecutable ? 0o755 : 0o644);
  if (!stats.isDirectory()) return;
  for (const name of readdirSync(path)) setRootOwner(join(path, name), ownerId);
}

/** Syncs the program to disk before the journal records it. */
function syncTree(path: string): void {
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  if (stats.isDirectory()) for (const name of readdirSync(path)) syncTree(join(path, name));
  syncPath(path);
}

/** Whether two directories contain the same files with the same bytes. */
async function isSame(one: string, other: string, machine: Machine): Promise<boolean> {
  const options = ['--recursive', '--brief', '--no-dereference'];
  return succeeds(machine, ['diff', ...options, '--', one, other]);
}
