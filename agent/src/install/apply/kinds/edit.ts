import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { findIncludes, removeIncludes, snippets } from '../../nginx/includes.ts';
import type { EditStep } from '../../steps.ts';
import { locate, type Machine } from '../machine.ts';
import { capturePath, identifyAll, isForeign, restore } from '../path-state.ts';
import {
  atNginxDirectory,
  captureNginxDirectory,
  type Entry,
  type StepContext,
  type StepKind,
} from '../step-kind.ts';
import { writeFile } from '../../../system/write-file.ts';

/** The prefix of the names of edits. */
const EDIT = 'edit ';

/** The name under which an entry keeps the snippets that an edit includes. */
const INCLUDES = 'includes';

export const edit: StepKind<EditStep> = {
  outlivesPlans: false,
  describe: ({ path }) => `Change ${path}`,
  findSubject: ({ path }) => ({ path }),

  async isSatisfied({ path, after }, context) {
    return readFileSync(locate(context, path), 'utf8') === after;
  },

  async capture({ path = '' }, context) {
    const places = existsSync(locate(context, path))
      ? [findRealPath(context, path)]
      : listIncluding(snippets, context);
    const states = places.map((each) => capturePath(context, context.backups, each));
    return { paths: states, facts: captureNginxDirectory(context) };
  },

  async apply({ path, before, after }, context) {
    const real = findRealPath(context, path);
    const place = locate(context, real);
    if (readFileSync(place, 'utf8') !== before) {
      throw new Error(`${path} was changed while this ran: start again.`);
    }
    rewrite(place, after);
    context.changed.add(real);
    return { ...identifyAll(context, [real]), [INCLUDES]: listIncludes(after, context) };
  },

  async undo(entry, around) {
    const context = atNginxDirectory(entry, around);
    for (const state of entry.before.paths) {
      if (!existsSync(locate(context, state.path))) removeMovedIncludes(state.path, entry, context);
      else if (isForeign(entry, context, state)) removeOurIncludes(state.path, context);
      else {
        restore(context, context.backups, state);
        context.changed.add(state.path);
      }
    }
  },

  // A renamed file contains the line under another name, where the plan wants it.
  isWanted({ subject: { path = '' }, after }, names, machine) {
    if (existsSync(locate(machine, path))) return isNamedOtherwise(path, names, machine);
    return after?.[INCLUDES]?.some((each) => names.includes(`file ${each}`)) === true;
  },
};

/** Whether a plan edits the same file by another path, through links. */
function isNamedOtherwise(path: string, names: readonly string[], machine: Machine): boolean {
  const edited = names
    .filter((name) => name.startsWith(EDIT))
    .map((name) => name.slice(EDIT.length));
  const real = findRealPath(machine, path);
  return edited.some(
    (each) => existsSync(locate(machine, each)) && findRealPath(machine, each) === real,
  );
}

/**
 * Removes the includes of a file that was moved. A site that its owner removed is not restored, and a renamed one must not
 * include missing files.
 */
function removeMovedIncludes(path: string, { after }: Entry, context: StepContext): void {
  context.report(`${path} was removed since by others: it is not restored.`);
  const taken = after?.[INCLUDES] ?? snippets;
  for (const other of listIncluding(taken, context)) removeOurIncludes(other, context, taken);
}

/** Returns the file itself where a path is a link, so that the link stays one. */
function findRealPath(machine: Machine, path: string): string {
  return realpathSync(locate(machine, path)).slice(machine.root.length);
}

/** Returns the snippets that a text includes. */
function listIncludes(text: string, { services }: StepContext): string[] {
  const includes = findIncludes(text, snippets, services.nginxDirectory);
  const found = new Set(includes.map(({ path }) => path));
  return snippets.filter((path) => found.has(path));
}

/** Returns the files of nginx that include one of these snippets; the target of a link. */
export function listIncluding(wanted: readonly string[], context: StepContext): string[] {
  const root = locate(context, context.services.nginxDirectory);
  if (!existsSync(root)) return [];
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const places = entries
    .filter((each) => each.isFile() || each.isSymbolicLink())
    .flatMap(({ parentPath, name }) => findFile(join(parentPath, name)));
  const including = [...new Set(places)].filter((place) =>
    listIncludes(readFileSync(place, 'latin1'), context).some((path) => wanted.includes(path)),
  );
  return including.map((place) => place.slice(context.root.length)).sort();
}

/** Returns the real path of a file; none for links to directories and to nothing. */
function findFile(place: string): string[] {
  return existsSync(place) && statSync(place).isFile() ? [realpathSync(place)] : [];
}

/**
 * Removes our includes from a file that others have changed, and keeps those changes.
 * @param taken the snippets that are no longer included
 */
export function removeOurIncludes(path: string, context: StepContext, taken = snippets): void {
  const place = realpathSync(locate(context, path));
  // As bytes, because others may have written in any encoding.
  const text = readFileSync(place, 'latin1');
  const without = removeIncludes(text, context.services.nginxDirectory, taken);
  context.changed.add(path);
  if (without === text) {
    context.report(`${path} was changed since by others: it is left as it is.`);
  } else {
    rewrite(place, Buffer.from(without, 'latin1'));
    context.report(`${path} was changed since: only the lines of this agent were removed.`);
  }
}

/** Replaces the content of a file, and keeps its mode and owner. */
function rewrite(place: string, text: Uint8Array | string): void {
  const { mode, uid, gid } = statSync(place);
  writeFile(place, text, { mode: mode & 0o7777, uid, gid });
}
