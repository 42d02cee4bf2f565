import { readlinkSync } from 'node:fs';

import { locate, type Machine } from '../machine.ts';
import { hashFile, look, type PathState, restore } from '../path-state.ts';
import type { Entry, Facts, StepContext } from '../step-kind.ts';

/** What is at a path, in short, for a later comparison; null where nothing is. */
export function identify(machine: Machine, path: string): string | null {
  const place = locate(machine, path);
  const stats = look(place);
  if (stats === null) return null;
  if (stats.isSymbolicLink()) return `link to ${readlinkSync(place)}`;
  return stats.isDirectory() ? 'directory' : hashFile(machine, path);
}

/** What a step left at its paths. */
export function identifyAll(machine: Machine, paths: readonly string[]): Facts {
  return Object.fromEntries(paths.map((path) => [path, [identify(machine, path) ?? 'nothing']]));
}

/** Brings the paths of a step back to what they were, but for those that somebody else has changed since. */
export function restoreUnlessChanged(entry: Entry, context: StepContext): void {
  for (const state of entry.before.paths) {
    if (isForeign(entry, context, state)) {
      context.tell(`${state.path} was changed by somebody else since: it stays as it is.`);
    } else {
      restore(context, context.backups, state);
      context.changed.add(state.path);
    }
  }
}

/** Whether a path is neither what the step left nor what was there before. */
export function isForeign({ after }: Entry, machine: Machine, state: PathState): boolean {
  const left = after?.[state.path]?.[0];
  if (left === undefined) return false;
  const now = identify(machine, state.path);
  if (now === null || now === left) return false;
  return state.type !== 'file' || now !== state.sha256;
}
