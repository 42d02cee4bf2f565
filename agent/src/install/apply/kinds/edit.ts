import { existsSync, readFileSync, realpathSync } from 'node:fs';

import { snippets } from '../../nginx/tagged-lines.ts';
import type { EditStep } from '../../steps.ts';
import { locate, type Machine } from '../machine.ts';
import { capture, restore } from '../path-state.ts';
import type { Entry, StepContext, StepKind } from '../step-kind.ts';
import { listIncludes, listIncluding, rewrite, takeOutOurs } from './own-lines.ts';
import { identifyAll, isForeign } from './restore-paths.ts';

/** How the names of edits begin. */
const EDIT = 'edit ';

/** Under this the journal keeps which of our files an edit has nginx load. */
const INCLUDES = 'includes';

export const edit: StepKind<EditStep> = {
  outlivesPlans: false,
  describe: ({ path }) => `Change ${path}`,
  findSubject: ({ path }) => ({ path }),

  async holds({ path, after }, context) {
    return readFileSync(locate(context, path), 'utf8') === after;
  },

  async remember({ path = '' }, context) {
    const places = existsSync(locate(context, path))
      ? [findRealPath(context, path)]
      : listIncluding(snippets, context);
    return { paths: places.map((each) => capture(context, context.backups, each)), facts: {} };
  },

  async apply({ path, before, after }, context) {
    const real = findRealPath(context, path);
    const place = locate(context, real);
    if (readFileSync(place, 'utf8') !== before) {
      throw new Error(`${path} was changed while this ran: start again.`);
    }
    rewrite(place, after);
    context.changed.add(real);
    return { ...identifyAll(context, [real]), [INCLUDES]: listIncludes(after) };
  },

  async undo(entry, context) {
    for (const state of entry.before.paths) {
      if (!existsSync(locate(context, state.path))) followOurs(state.path, entry, context);
      else if (isForeign(entry, context, state)) takeOutOurs(state.path, context);
      else {
        restore(context, context.backups, state);
        context.changed.add(state.path);
      }
    }
  },

  // A file that was renamed has its line under another name, where the plan wants it.
  isWanted({ subject: { path = '' }, after }, names, machine) {
    if (existsSync(locate(machine, path))) return isNamedOtherwise(path, names, machine);
    return after?.[INCLUDES]?.some((each) => names.includes(`file ${each}`)) === true;
  },
};

/** Whether a plan edits the same file by another path: links lead to it. */
function isNamedOtherwise(path: string, names: readonly string[], machine: Machine): boolean {
  const edited = names
    .filter((name) => name.startsWith(EDIT))
    .map((name) => name.slice(EDIT.length));
  const real = findRealPath(machine, path);
  return edited.some(
    (each) => existsSync(locate(machine, each)) && findRealPath(machine, each) === real,
  );
}

/** A site that its owner has taken down must not come back; one that has another name must not load what is no longer there. */
function followOurs(path: string, { after }: Entry, context: StepContext): void {
  context.tell(`${path} was removed by somebody else since: it is not brought back.`);
  const taken = after?.[INCLUDES] ?? snippets;
  for (const other of listIncluding(taken, context)) takeOutOurs(other, context, taken);
}

/** The file itself, where a path is a link to it: the link stays one. */
function findRealPath(machine: Machine, path: string): string {
  return realpathSync(locate(machine, path)).slice(machine.root.length);
}
