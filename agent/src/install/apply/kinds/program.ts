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
import { capturePath, restore } from '../path-state.ts';
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
    const place = locate(context, to);
    if (!existsSync(place)) return false;
    return realpathSync(from) === realpathSync(place) || isSame(from, place, context);
  },

  async capture({ to = '' }, context) {
    // The previous version is moved aside, not copied, because of its size.
    return { paths: [capturePath(context, context.backups, to)], facts: {} };
  },

  async apply({ from, to }, context) {
    const { place, fresh, old } = findPlaces(context, to);
    createParents(context, to);
    rmSync(fresh, { recursive: true, force: true });
    cpSync(from, fresh, COPY_OPTIONS);
    setRootOwner(fresh, context.ownerId);
    syncTree(fresh);
    rmSync(old, { recursive: true, force: true });
    if (existsSync(place)) renameSync(place, old);
    renameSync(fresh, place);
    syncPath(dirname(place));
    context.changed.add(to);
    return {};
  },

  async undo({ subject: { to = '' }, before }, context) {
    const { place, fresh, old } = findPlaces(context, to);
    rmSync(fresh, { recursive: true, force: true });
    if (before.paths[0]?.type === 'absent') {
      rmSync(place, { recursive: true, force: true });
      restore(context, context.backups, before.paths[0]);
    } else if (existsSync(old)) {
      rmSync(place, { recursive: true, force: true });
      renameSync(old, place);
    }
    context.changed.add(to);
  },
};

/** Removes the previous version, which only the undo of an unfinished run needs. */
export function removeOldProgram(machine: Machine, to: string): void {
  rmSync(findPlaces(machine, to).old, { recursive: true, force: true });
}

function findPlaces(machine: Machine, to: string) {
  const place = locate(machine, to);
  return { place, fresh: beside(place, 'new'), old: beside(place, 'old') };
}

/** Beside the directory, so that a rename stays within a file system. */
function beside(place: string, word: string): string {
  return join(dirname(place), `.latchkey-agent-${word}`);
}

/** Makes root the only owner of what root starts, however the package was unpacked. */
function setRootOwner(path: string, ownerId: number): void {
  lchownSync(path, ownerId, ownerId);
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return;
  const isRun = stats.isDirectory() || (stats.mode & 0o100) !== 0;
  chmodSync(path, isRun ? 0o755 : 0o644);
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
async function isSame(from: string, place: string, machine: Machine): Promise<boolean> {
  const how = ['--recursive', '--brief', '--no-dereference'];
  return succeeds(machine, ['diff', ...how, '--', from, place]);
}
