import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { snippets } from '../../nginx/includes.ts';
import { agentUser, paths } from '../../paths.ts';
import type { DirectoryStep, FileStep, LinkStep, Ownership } from '../../steps.ts';
import { findGroupId, locate, type Machine } from '../machine.ts';
import {
  capturePath,
  identify,
  identifyAll,
  isForeign,
  lstatOrNull,
  restore,
} from '../path-state.ts';
import {
  atNginxDirectory,
  captureNginxDirectory,
  type Entry,
  type StepContext,
  type StepKind,
} from '../step-kind.ts';
import { type Owner, writeDirectory, writeFile, writeLink } from '../../../system/write-file.ts';
import { listIncluding, removeOurIncludes } from './edit.ts';

/** Files here belong to the agent, and nginx would not start with them once the agent is removed. */
const NGINX = '/etc/nginx/';

export const file: StepKind<FileStep> = {
  outlivesPlans: false,
  describe: ({ path }) => `Write ${path}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied(step, context) {
    const place = locate(context, step.path);
    if (!existsSync(place)) return false;
    if (step.keepsExisting && lstatOrNull(place)?.isSymbolicLink() === true) return true;
    if (!hasOwner(place, step, context)) return false;
    return step.keepsExisting || readFileSync(place, 'utf8') === step.text;
  },

  async capture({ path = '' }, context) {
    const places = [path, ...listConcerned(path, context)];
    const states = places.map((each) => capturePath(context, context.backups, each));
    return { paths: states, facts: snippets.includes(path) ? captureNginxDirectory(context) : {} };
  },

  async apply(step, context) {
    const place = locate(context, step.path);
    createParents(context, step.path);
    if (step.path === paths.configuration && !step.keepsExisting) keepBefore(step, context);
    const text = step.keepsExisting && existsSync(place) ? readFileSync(place) : step.text;
    writeFile(place, text, ownerOf(step, context));
    context.changed.add(step.path);
    return identifyAll(context, [step.path]);
  },

  async undo(entry, context) {
    const { path = '' } = entry.subject;
    const isOurs = path === paths.configuration || path.startsWith(NGINX);
    if (!isOurs) return restoreUnlessChanged(entry, context);
    for (const state of entry.before.paths) {
      if (path !== paths.configuration && isForeign(entry, context, state)) {
        context.report(
          `${state.path} goes, though it was changed since: nginx would not start with it.`,
        );
      }
      restore(context, context.backups, state);
      context.changed.add(state.path);
    }
    removeIncludesOf(path, atNginxDirectory(entry, context));
  },
};

/** Returns the files that change along with a file. */
function listConcerned(path: string, context: StepContext): readonly string[] {
  if (path === paths.configuration) return [paths.configurationBefore];
  return snippets.includes(path) ? listIncluding([path], context) : [];
}

/** Removes includes that others added: nginx would not start without the file. */
function removeIncludesOf(path: string, context: StepContext): void {
  if (!snippets.includes(path) || existsSync(locate(context, path))) return;
  for (const other of listIncluding([path], context)) removeOurIncludes(other, context, [path]);
}

/** Keeps the previous configuration, which may contain settings of the administrator. */
function keepBefore(step: FileStep, machine: Machine): void {
  const place = locate(machine, step.path);
  if (!existsSync(place) || readFileSync(place, 'utf8') === step.text) return;
  const before = locate(machine, paths.configurationBefore);
  writeFile(before, readFileSync(place), ownerOf(step, machine));
}

/** Returns the owner that a step names. @throws Error when the group does not exist */
export function ownerOf({ mode, group }: Ownership, machine: Machine): Owner {
  const gid = findGroupId(machine, group);
  if (gid === null) throw new Error(`There is no group ${group}.`);
  return { mode, uid: machine.ownerId, gid };
}

/** Whether a path has this owner and mode, and is no link. */
export function hasOwner(place: string, { mode, group }: Ownership, machine: Machine): boolean {
  const stats = lstatOrNull(place);
  if (stats === null || stats.isSymbolicLink() || (stats.mode & 0o7777) !== mode) return false;
  return stats.uid === machine.ownerId && stats.gid === findGroupId(machine, group);
}

/** Creates the missing directories above a path, which `capturePath` has recorded. */
export function createParents(machine: Machine, path: string): void {
  const parent = dirname(path);
  if (existsSync(locate(machine, parent))) return;
  createParents(machine, parent);
  const owner = { mode: 0o755, uid: machine.ownerId, gid: machine.ownerId };
  writeDirectory(locate(machine, parent), owner);
}

export const link: StepKind<LinkStep> = {
  outlivesPlans: false,
  describe: ({ path, target }) => `Link ${path} to ${target}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied({ path, target }, context) {
    return identify(context, path) === `link to ${target}`;
  },

  async capture({ path = '' }, context) {
    return { paths: [capturePath(context, context.backups, path)], facts: {} };
  },

  async apply({ path, target }, context) {
    createParents(context, path);
    writeLink(locate(context, path), target);
    context.changed.add(path);
    return identifyAll(context, [path]);
  },

  async undo(entry, context) {
    restoreUnlessChanged(entry, context);
  },
};

/** Exists where SELinux is active. */
const SELINUX = '/sys/fs/selinux/enforce';

export const directory: StepKind<DirectoryStep> = {
  outlivesPlans: false,
  describe: ({ path }) => `Create ${path}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied(step, context) {
    const place = locate(context, step.path);
    return lstatOrNull(place)?.isDirectory() === true && hasOwner(place, step, context);
  },

  async capture({ path = '' }, context) {
    return { paths: [capturePath(context, context.backups, path)], facts: {} };
  },

  async apply(step, context) {
    createParents(context, step.path);
    writeDirectory(locate(context, step.path), ownerOf(step, context));
    // Its SELinux label is not the one that it inherits.
    if (existsSync(locate(context, SELINUX))) {
      await context.runProgram('restorecon', ['-R', step.path]);
    }
    return identifyAll(context, [step.path]);
  },

  async undo({ before }, context) {
    for (const state of before.paths) {
      if (state.type === 'absent') empty(state.path, context);
      restore(context, context.backups, state);
    }
  },
};

/** Empties a directory of the agent; others are removed only when they are empty. */
function empty(path: string, context: StepContext): void {
  const place = locate(context, path);
  if (lstatOrNull(place)?.isDirectory() !== true) return;
  if (path.includes(agentUser)) rmSync(place, { recursive: true });
  else if (readdirSync(place).length > 0) {
    context.report(`${path} stays, for it is not empty.`);
  }
}

/** Restores the paths of a step, except those that others have changed since. */
function restoreUnlessChanged(entry: Entry, context: StepContext): void {
  for (const state of entry.before.paths) {
    if (isForeign(entry, context, state)) {
      context.report(`${state.path} was changed since by others: it is left as it is.`);
    } else {
      restore(context, context.backups, state);
      context.changed.add(state.path);
    }
  }
}
