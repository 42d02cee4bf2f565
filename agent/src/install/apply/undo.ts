import type { RunProgram } from '../run-program.ts';
import { explainFailure } from './explain-failure.ts';
import { kindOf } from './kinds.ts';
import { type Entry, nameEntry, type StepContext } from './step-kind.ts';

/**
 * Undoes steps, the last one first, and then has what reads their files take them again. One that fails is told, and the
 * others are undone all the same.
 * @returns what could not be undone, as sentences
 */
export async function undoEntries(
  entries: readonly Entry[],
  around: StepContext,
  onUndone: (entry: Entry) => void = () => undefined,
): Promise<string[]> {
  const context = { ...around, runProgram: shield(around.runProgram) };
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
    if (isUndone && kindOf(entry).settle === undefined) onUndone(entry);
  }
  for (const entry of listFirst(entries)) {
    const { settle } = kindOf(entry);
    if (settle === undefined) continue;
    if (await attempt(entry, () => settle(entry, context))) onUndone(entry);
  }
  return problems;
}

/** What is half undone helps nobody: Ctrl-C is not for the programs that undo. */
function shield(runProgram: RunProgram): RunProgram {
  return async (program, args, options) =>
    runProgram(program, args, { ...options, isShielded: true });
}

/** Of entries about the same thing the first, which knows how it was before all. */
function listFirst(entries: readonly Entry[]): Entry[] {
  const first = new Map<string, Entry>();
  for (const entry of entries) {
    if (!first.has(nameEntry(entry))) first.set(nameEntry(entry), entry);
  }
  return [...first.values()];
}
