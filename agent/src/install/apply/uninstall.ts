import { dirname } from 'node:path';

import { paths } from '../paths.ts';
import { type RunContext, UndoError } from './apply-plan.ts';
import type { Entry } from './step-kind.ts';
import { undoEntries } from './undo.ts';

export interface UninstallOptions {
  readonly keepsConfiguration: boolean;
}

/**
 * Undoes every step of every installation. Cut off, it goes on where it was when it is started again.
 * @throws UndoError with what could not be undone; the rest is
 */
export async function uninstall(options: UninstallOptions, around: RunContext): Promise<void> {
  const context = { ...around, isUninstallation: true };
  const { journal } = context;
  const undone = listUndone(options, journal.done);
  // The program last: whoever must start again needs it.
  for (const isLast of [false, true]) {
    const part = undone.filter((entry) => isProgram(entry) === isLast);
    const problems = await undoEntries(part, context, (entry) => journal.noteUndone(entry));
    if (problems.length > 0) throw new UndoError(problems);
  }
  if (options.keepsConfiguration) journal.tidy();
  else journal.forgetInstalled();
}

/** What an uninstallation undoes, in the order in which it was done. */
export function listUndone(
  { keepsConfiguration }: UninstallOptions,
  done: readonly Entry[],
): Entry[] {
  return done.filter((entry) => !keepsConfiguration || !isConfiguration(entry));
}

/** Whether it is what an uninstallation itself is started from. */
function isProgram({ kind, subject }: Entry): boolean {
  return kind === 'program' || (kind === 'link' && subject['path'] === paths.command);
}

/** What would be set up once more by hand; its user stays, too, so that nobody else gets the number that owns its files. */
function isConfiguration({ kind, subject }: Entry): boolean {
  if (['authority', 'own-certificate', 'user'].includes(kind)) return true;
  const { path = '' } = subject;
  return path === paths.authority || `${path}/`.startsWith(`${dirname(paths.configuration)}/`);
}
