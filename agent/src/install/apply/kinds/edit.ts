import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';

import { removeTaggedLines } from '../../nginx/tagged-lines.ts';
import { paths } from '../../paths.ts';
import type { EditStep } from '../../steps.ts';
import { locate, type Machine } from '../machine.ts';
import { capture } from '../path-state.ts';
import type { Entry, StepContext, StepKind } from '../step-kind.ts';
import { writeFile } from '../write-file.ts';
import { identifyAll, isForeign, restoreUnlessChanged } from './restore-paths.ts';

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
    const real = findRealPath(context, path);
    return { paths: [capture(context, context.backups, real)], facts: {} };
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
    const [state] = entry.before.paths;
    if (state === undefined) return;
    if (!existsSync(locate(context, state.path))) {
      // A site that its owner has taken down must not come back.
      context.tell(`${state.path} was removed by somebody else since: it is not brought back.`);
    } else if (isForeign(entry, context, state)) takeOutOurs(entry, context);
    else restoreUnlessChanged(entry, context);
  },

  // A plan for a file that has its line already has no edit left.
  isWanted({ after }, names) {
    return after?.[INCLUDES]?.some((path) => names.includes(`file ${path}`)) === true;
  },
};

function listIncludes(text: string): string[] {
  return [paths.nginxRoute, paths.nginxChallenge].filter((path) =>
    text.includes(`include ${path};`),
  );
}

/** Somebody has changed the file since, and keeps those changes: only our lines go. */
function takeOutOurs({ before }: Entry, context: StepContext): void {
  for (const { path } of before.paths) {
    // Byte by byte, for what somebody has written since may be in any encoding.
    const text = readFileSync(locate(context, path), 'latin1');
    const without = removeTaggedLines(text);
    context.changed.add(path);
    if (without === text) {
      context.tell(`${path} was changed by somebody else since: it stays as it is.`);
    } else {
      rewrite(locate(context, path), Buffer.from(without, 'latin1'));
      context.tell(`${path} was changed since: only the lines of this agent were taken out.`);
    }
  }
}

function rewrite(place: string, text: Uint8Array | string): void {
  const { mode, uid, gid } = statSync(place);
  writeFile(place, text, { mode: mode & 0o7777, uid, gid });
}

/** The file itself, where a path is a link to it: the link stays one. */
function findRealPath(machine: Machine, path: string): string {
  return realpathSync(locate(machine, path)).slice(machine.root.length);
}
