import { dirname } from 'node:path';

import { paths } from '../paths.ts';
import type { RunProgram } from '../../system/run-program.ts';
import type { Journal } from './journal.ts';
import { explainFailure } from '../../errors.ts';
import { kindOf } from './kinds.ts';
import { type Entry, nameEntry } from './journal-entry.ts';
import type { StepContext } from './step-kind.ts';

/**
 * Undoes entries, last first, then runs `afterUndo` of the entries that read their files. A failure is recorded, and the undo
 * continues with the others.
 * @returns a sentence for each entry that could not be undone
 */
export async function undoEntries(
  entries: readonly Entry[],
  around: StepContext,
  onUndone: (entry: Entry) => void = () => undefined,
): Promise<string[]> {
  const context = { ...around, runProgram: withoutInterrupts(around.runProgram) };
  const problems: string[] = [];
  const attempt = async (entry: Entry, work: () => Promise<void> | void) => {
    try {
      await work();
      return true;
    } catch (error) {
      problems.push(`Not undone (${nameEntry(entry)}): ${explainFailure(error)}`);
      return false;
    }
  };
  for (const entry of entries.toReversed()) {
    const isUndone = await attempt(entry, () => kindOf(entry).undo(entry, context));
    if (isUndone && kindOf(entry).afterUndo === undefined) onUndone(entry);
  }
  for (const entry of listFirst(entries)) {
    const { afterUndo } = kindOf(entry);
    if (afterUndo === undefined) continue;
    if (await attempt(entry, () => afterUndo(entry, context))) onUndone(entry);
  }
  return problems;
}

/** A failed undo after a failure or a crash. */
export class UndoError extends Error {
  constructor(problems: readonly string[], options?: ErrorOptions) {
    const advice = `Fix that and run this again: ${paths.journal} still contains the earlier state.`;
    super([...problems, advice].join('\n'), options);
    this.name = 'UndoError';
  }
}

/** Protects the programs of an undo, which must complete, from Ctrl-C. */
function withoutInterrupts(runProgram: RunProgram): RunProgram {
  return async (program, args, options) =>
    runProgram(program, args, { ...options, hasOwnSession: true });
}

/** Returns the first entry of each name, which captured the state before all others. */
function listFirst(entries: readonly Entry[]): Entry[] {
  const first = new Map<string, Entry>();
  for (const entry of entries) {
    if (!first.has(nameEntry(entry))) first.set(nameEntry(entry), entry);
  }
  return [...first.values()];
}

/** Describes the undo of an entry. */
export function describeUndo(entry: Entry): string[] {
  const { describeUndo: describe } = kindOf(entry);
  if (describe !== undefined) return [describe(entry)];
  const { paths: states } = entry.before;
  if (states.length === 0) return [`Remove the ${nameEntry(entry)}`];
  return states.map(({ type, path }) => (type === 'absent' ? `Remove ${path}` : `Restore ${path}`));
}

export interface UninstallOptions {
  readonly keepsConfiguration: boolean;
}

/**
 * Undoes every step of every installation. After an interruption, the next call continues.
 * @throws UndoError with what could not be undone, after the rest was
 */
export async function uninstall(
  options: UninstallOptions,
  around: StepContext & { readonly journal: Journal },
): Promise<void> {
  const context = { ...around, isUninstallation: true };
  const { journal } = context;
  const undone = listUndone(options, journal.done);
  // The program last, because a retry needs it.
  for (const isLast of [false, true]) {
    const part = undone.filter((entry) => isProgram(entry) === isLast);
    const problems = await undoEntries(part, context, (entry) => journal.recordUndone(entry));
    if (problems.length > 0) throw new UndoError(problems);
  }
  if (options.keepsConfiguration) journal.tidy();
  else journal.removeInstalled();
}

/** Returns the entries that an uninstallation undoes, in the order in which they were applied. */
export function listUndone(
  { keepsConfiguration }: UninstallOptions,
  done: readonly Entry[],
): Entry[] {
  return done.filter((entry) => !keepsConfiguration || !isConfiguration(entry));
}

/** Whether an entry is the program that runs the uninstallation. */
function isProgram({ kind, subject }: Entry): boolean {
  return kind === 'program' || (kind === 'link' && subject['path'] === paths.command);
}

/** Whether an entry is configuration, or its user, so that no other user receives the id that owns the files. */
function isConfiguration({ kind, subject }: Entry): boolean {
  if (['authority', 'own-certificate', 'user'].includes(kind)) return true;
  const { path = '' } = subject;
  return path === paths.authority || `${path}/`.startsWith(`${dirname(paths.configuration)}/`);
}
