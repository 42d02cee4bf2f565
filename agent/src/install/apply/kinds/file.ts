// Files, links and directories of an installation.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';

import { type Owner, writeDirectory, writeFile, writeLink } from '../../../system/write-file.ts';
import { snippets } from '../../nginx/includes.ts';
import { agentUser, paths } from '../../paths.ts';
import type { DirectoryStep, FileStep, LinkStep, Ownership } from '../../steps.ts';
import { findGroupId, locate, type Machine } from '../machine.ts';
import {
  capturePaths,
  digestPath,
  identifyResult,
  isForeign,
  lstatOrNull,
  restore,
} from '../path-state.ts';
import type { Entry } from '../journal-entry.ts';
import {
  atNginxDirectory,
  captureNginxDirectory,
  type StepContext,
  type StepKind,
} from '../step-kind.ts';
import { listIncluding, removeOurIncludes } from './edit.ts';

/** Files here belong to the agent, and nginx would not start with them once the agent is removed. */
const NGINX = '/etc/nginx/';

export const file: StepKind<FileStep> = {
  describe: ({ path }) => `Write ${path}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied(step, context) {
    const located = locate(context, step.path);
    if (!existsSync(located)) return false;
    if (step.keepsExisting && lstatOrNull(located)?.isSymbolicLink() === true) return true;
    if (!hasOwner(located, step, context)) return false;
    return step.keepsExisting || readFileSync(located, 'utf8') === step.text;
  },

  async capture({ path = '' }, context) {
    const facts = snippets.includes(path) ? captureNginxDirectory(context) : {};
    return capturePaths(context, [path, ...listAffected(path, context)], facts);
  },

  async apply(step, context) {
    const { path, text, keepsExisting } = step;
    const located = locate(context, path);
    createParents(context, path);
    if (path === paths.configuration && !keepsExisting) keepPrevious(step, context);
    const content = keepsExisting && existsSync(located) ? readFileSync(located) : text;
    writeFile(located, content, ownerOf(step, context));
    context.changed.add(path);
    return identifyResult(context, path);
  },

  async undo(entry, context) {
    const { path = '' } = entry.subject;
    const isOurs = path === paths.configuration || path.startsWith(NGINX);
    if (!isOurs) return restoreUnlessChanged(entry, context);
    for (const state of entry.before.paths) {
      if (path !== paths.configuration && isForeign(entry, context, state)) {
        context.report(
          `${state.path} is restored although others changed it: nginx would not start with it.`,
        );
      }
      restore(context, state);
      context.changed.add(state.path);
    }
    removeIncludesOf(path, atNginxDirectory(entry, context));
  },
};

/** Returns the files that change along with a file. */
function listAffected(path: string, context: StepContext): readonly string[] {
  if (path === paths.configuration) return [paths.configurationBefore];
  return snippets.includes(path) ? listIncluding([path], context) : [];
}

/** Removes includes that others added: nginx would not start without the file. */
function removeIncludesOf(path: string, context: StepContext): void {
  if (!snippets.includes(path) || existsSync(locate(context, path))) return;
  for (const other of listIncluding([path], context)) removeOurIncludes(other, context, [path]);
}

/** Keeps the previous configuration, which may contain settings of the administrator. */
function keepPrevious(step: FileStep, machine: Machine): void {
  const located = locate(machine, step.path);
  if (!existsSync(located) || readFileSync(located, 'utf8') === step.text) return;
  const previous = locate(machine, paths.configurationBefore);
  writeFile(previous, readFileSync(located), ownerOf(step, machine));
}

/** Returns the owner that a step names. @throws Error when the group does not exist */
export function ownerOf({ mode, group }: Ownership, machine: Machine): Owner {
  const gid = findGroupId(machine, group);
  if (gid === null) throw new Error(`There is no group ${group}.`);
  return { mode, uid: machine.ownerId, gid };
}

/** Whether a path has this owner and mode, and is no link. */
export function hasOwner(located: string, { mode, group }: Ownership, machine: Machine): boolean {
  const stats = lstatOrNull(located);
  if (stats === null || stats.isSymbolicLink() || (stats.mode & 0o7777) !== mode) return false;
  return stats.uid === machine.ownerId && stats.gid === findGroupId(machine, group);
}

/** Creates the missing directories above a path, which `capturePaths` has recorded. */
export function createParents(machine: Machine, path: string): void {
  const parent = dirname(path);
  if (existsSync(locate(machine, parent))) return;
  createParents(machine, parent);
  writeDirectory(locate(machine, parent), ownerOf({ mode: 0o755, group: 'root' }, machine));
}

export const link: StepKind<LinkStep> = {
  describe: ({ path, target }) => `Link ${path} to ${target}`,
  findSubject: ({ path }) => ({ path }),
  isSatisfied: async ({ path, target }, context) =>
    digestPath(context, path) === `link to ${target}`,
  capture: async ({ path = '' }, context) => capturePaths(context, [path]),

  async apply({ path, target }, context) {
    createParents(context, path);
    writeLink(locate(context, path), target);
    context.changed.add(path);
    return identifyResult(context, path);
  },

  undo: async (entry, context) => restoreUnlessChanged(entry, context),
};

/** Exists where SELinux is active. */
const SELINUX = '/sys/fs/selinux/enforce';

export const directory: StepKind<DirectoryStep> = {
  describe: ({ path }) => `Create ${path}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied(step, context) {
    const located = locate(context, step.path);
    return lstatOrNull(located)?.isDirectory() === true && hasOwner(located, step, context);
  },

  capture: async ({ path = '' }, context) => capturePaths(context, [path]),

  async apply(step, context) {
    createParents(context, step.path);
    writeDirectory(locate(context, step.path), ownerOf(step, context));
    // Its SELinux label is not the one that it inherits.
    if (existsSync(locate(context, SELINUX))) {
      await context.runProgram('restorecon', ['-R', step.path]);
    }
    return identifyResult(context, step.path);
  },

  async undo({ before }, context) {
    for (const state of before.paths) {
      if (state.type === 'absent') removeContent(state.path, context);
      restore(context, state);
    }
  },
};

/** Removes the content of a directory of the agent; other directories are removed only when they are empty. */
function removeContent(path: string, context: StepContext): void {
  const located = locate(context, path);
  if (lstatOrNull(located)?.isDirectory() !== true) return;
  if (path.includes(agentUser)) rmSync(located, { recursive: true });
  else if (readdirSync(located).length > 0) {
    context.report(`${path} is kept, because it is not empty.`);
  }
}

/** Restores the paths of a step, except those that others have changed since. */
function restoreUnlessChanged(entry: Entry, context: StepContext): void {
  for (const state of entry.before.paths) {
    if (isForeign(entry, context, state)) {
      context.report(`${state.path} is left as it is, because others changed it.`);
    } else {
      restore(context, state);
      context.changed.add(state.path);
    }
  }
}
