import type { Journal } from './journal.ts';
import { kindOf } from './kinds.ts';
import { type Entry, nameEntry, type StepContext } from './step-kind.ts';

/**
 * What an earlier installation did and a plan no longer has, such as the other mode's files: it is undone, the last one first.
 * @param names those of the plan's steps
 * @returns in the order in which it was done
 */
export function listStale(
  { done }: Pick<Journal, 'done'>,
  names: readonly string[],
  context: StepContext,
): readonly Entry[] {
  return done.filter((entry) => isStale(entry, names, context));
}

/** Whether an entry is neither of a plan, nor stays without one. */
function isStale(entry: Entry, names: readonly string[], context: StepContext): boolean {
  const { outlivesPlans, isWanted } = kindOf(entry);
  if (outlivesPlans || names.includes(nameEntry(entry))) return false;
  return isWanted?.(entry, names, context) !== true;
}
