import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { CONFIGURATION, findIncludes } from '../../nginx/includes.ts';
import { removeTaggedLines, snippets } from '../../nginx/tagged-lines.ts';
import { locate, type Machine } from '../machine.ts';
import type { StepContext } from '../step-kind.ts';
import { writeFile } from '../../../system/write-file.ts';

/** Which of our files a text has nginx load. */
export function listIncludes(text: string): string[] {
  const found = new Set(findIncludes(text, snippets).map(({ path }) => path));
  return snippets.filter((path) => found.has(path));
}

/** The files of nginx that load one of these, under whatever name; of a link, the file that it leads to. */
export function listIncluding(wanted: readonly string[], machine: Machine): string[] {
  const root = locate(machine, CONFIGURATION);
  if (!existsSync(root)) return [];
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const places = entries
    .filter((each) => each.isFile() || each.isSymbolicLink())
    .flatMap(({ parentPath, name }) => findFile(join(parentPath, name)));
  const including = [...new Set(places)].filter((place) =>
    listIncludes(readFileSync(place, 'latin1')).some((path) => wanted.includes(path)),
  );
  return including.map((place) => place.slice(machine.root.length)).sort();
}

/** Where a file lies; none for links to directories and to nothing. */
function findFile(place: string): string[] {
  return existsSync(place) && statSync(place).isFile() ? [realpathSync(place)] : [];
}

/**
 * Takes our lines out of a file that somebody has changed since, who keeps those changes.
 * @param taken the files of ours that are no longer to be loaded
 */
export function takeOutOurs(path: string, context: StepContext, taken = snippets): void {
  const place = realpathSync(locate(context, path));
  // Byte by byte, for what somebody has written since may be in any encoding.
  const text = readFileSync(place, 'latin1');
  const without = removeTaggedLines(text, taken);
  context.changed.add(path);
  if (without === text) {
    context.tell(`${path} was changed by somebody else since: it stays as it is.`);
  } else {
    rewrite(place, Buffer.from(without, 'latin1'));
    context.tell(`${path} was changed since: only the lines of this agent were taken out.`);
  }
}

/** Replaces what a file holds, and nothing else of it. */
export function rewrite(place: string, text: Uint8Array | string): void {
  const { mode, uid, gid } = statSync(place);
  writeFile(place, text, { mode: mode & 0o7777, uid, gid });
}
