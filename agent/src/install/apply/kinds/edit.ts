// Edits of the administrator's nginx files.
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { writeFile } from '../../../system/write-file.ts';
import { findIncludes, removeIncludes, snippets } from '../../nginx/includes.ts';
import type { EditStep } from '../../steps.ts';
import { locate, type Machine } from '../machine.ts';
import { capturePaths, identifyResult, isForeign, restore } from '../path-state.ts';
import type { Entry } from '../journal-entry.ts';
import {
  atNginxDirectory,
  captureNginxDirectory,
  type StepContext,
  type StepKind,
} from '../step-kind.ts';

/** The prefix of the names of edits. */
const EDIT = 'edit ';

/** The name under which an entry keeps the snippets that an edit includes. */
const INCLUDES = 'includes';

export const edit: StepKind<EditStep> = {
  describe: ({ path }) => `Change ${path}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied({ path, after }, context) {
    return readFileSync(locate(context, path), 'utf8') === after;
  },

  async capture({ path = '' }, context) {
    const files = existsSync(locate(context, path))
      ? [findRealPath(context, path)]
      : listIncluding(snippets, context);
    return capturePaths(context, files, captureNginxDirectory(context));
  },

  async apply({ path, before, after }, context) {
    const real = findRealPath(context, path);
    const located = locate(context, real);
    if (readFileSync(located, 'utf8') !== before) {
      throw new Error(`${path} was changed during this run: start again.`);
    }
    rewrite(located, after);
    context.changed.add(real);
    return { ...identifyResult(context, real), [INCLUDES]: listIncludes(after, context) };
  },

  async undo(entry, around) {
    const context = atNginxDirectory(entry, around);
    for (const state of entry.before.paths) {
      if (!existsSync(locate(context, state.path))) removeMovedIncludes(state.path, entry, context);
      else if (isForeign(entry, context, state)) removeOurIncludes(state.path, context);
      else {
        restore(context, state);
        context.changed.add(state.path);
      }
    }
  },

  // A renamed file still contains the include, which the plan may need.
  isWanted({ subject: { path = '' }, after }, names, machine) {
    if (existsSync(locate(machine, path))) return isNamedOtherwise(path, names, machine);
    return after?.[INCLUDES]?.some((each) => names.includes(`file ${each}`)) === true;
  },
};

/** Whether a plan edits the same file by another path, through links. */
function isNamedOtherwise(path: string, names: readonly string[], machine: Machine): boolean {
  const real = findRealPath(machine, path);
  return names
    .filter((name) => name.startsWith(EDIT))
    .map((name) => name.slice(EDIT.length))
    .some((each) => existsSync(locate(machine, each)) && findRealPath(machine, each) === real);
}

/**
 * Removes the includes of a file that was moved. A site that its owner removed is not restored, and a renamed one must not
 * include missing files.
 */
function removeMovedIncludes(path: string, { after }: Entry, context: StepContext): void {
  context.report(`${path} is not restored, because others removed it.`);
  const removed = after?.[INCLUDES] ?? snippets;
  for (const other of listIncluding(removed, context)) removeOurIncludes(other, context, removed);
}

/** Returns the file itself where a path is a link, so that the link stays one. */
function findRealPath(machine: Machine, path: string): string {
  return realpathSync(locate(machine, path)).slice(machine.root.length);
}

/** Returns the snippets that a text includes. */
function listIncludes(text: string, { services }: StepContext): string[] {
  const includes = findIncludes(text, snippets, services.nginxDirectory);
  return snippets.filter((path) => includes.some((include) => include.path === path));
}

/** Returns the files of nginx that include one of these snippets; the target of a link. */
export function listIncluding(wanted: readonly string[], context: StepContext): string[] {
  const root = locate(context, context.services.nginxDirectory);
  if (!existsSync(root)) return [];
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .map(({ parentPath, name }) => join(parentPath, name))
    // Sockets and the like cannot be read, and the target of a link may be missing.
    .filter((path) => existsSync(path) && statSync(path).isFile())
    .map((path) => realpathSync(path));
  return [...new Set(files)]
    .filter((path) =>
      listIncludes(readFileSync(path, 'latin1'), context).some((each) => wanted.includes(each)),
    )
    .map((path) => path.slice(context.root.length))
    .sort();
}

/**
 * Removes our includes from a file that others have changed, and keeps those changes.
 * @param removed the snippets that are no longer included
 */
export function removeOurIncludes(path: string, context: StepContext, removed = snippets): void {
  const located = realpathSync(locate(context, path));
  // As bytes, because others may have written in any encoding.
  const text = readFileSync(located, 'latin1');
  const rest = removeIncludes(text, context.services.nginxDirectory, removed);
  context.changed.add(path);
  if (rest === text) {
    context.report(`${path} is left as it is, because others changed it.`);
  } else {
    rewrite(located, Buffer.from(rest, 'latin1'));
    context.report(`${path} was changed by others: only the lines of the agent are removed.`);
  }
}

/** Replaces the content of a file, and keeps its mode and owner. */
function rewrite(located: string, text: Uint8Array | string): void {
  const { mode, uid, gid } = statSync(located);
  writeFile(located, text, { mode: mode & 0o7777, uid, gid });
}
