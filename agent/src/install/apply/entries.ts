import type { Change, Journal } from './journal.ts';
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

/**
 * What is done once a run has ended: for each thing how it was before the first installation, and what the last one left.
 * @param names those of the plan, in its order, which is that of the entries; those that no plan names any more come before
 */
export function mergeEntries(
  done: readonly Entry[],
  changes: readonly Change[],
  names: readonly string[],
): Entry[] {
  const merged = new Map(done.map((entry) => [nameEntry(entry), entry]));
  const removed: Entry[] = [];
  for (const { action, entry } of changes) {
    const name = nameEntry(entry);
    const earlier = merged.get(name);
    if (action === 'remove') {
      merged.delete(name);
      if (earlier !== undefined) removed.push(earlier);
    } else merged.set(name, earlier === undefined ? entry : join(earlier, entry));
  }
  const place = (entry: Entry) => names.indexOf(nameEntry(entry));
  const entries = [...merged.values()].sort((one, other) => place(one) - place(other));
  return removed.reduce(inherit, entries);
}

/**
 * What a removed certificate had added may be in use by another one, as an ACME account is. That one has it from now on, with
 * what was there before either.
 */
function inherit(entries: readonly Entry[], removed: Entry): Entry[] {
  const heir = entries.find(({ kind }) => kind === removed.kind);
  const traces = removed.before.facts['traces'];
  return entries.map((entry) => {
    if (entry !== heir || traces === undefined) return entry;
    const facts = { ...entry.before.facts, traces };
    const added = [...(entry.after?.['added'] ?? []), ...(removed.after?.['added'] ?? [])];
    return { ...entry, before: { ...entry.before, facts }, after: { ...entry.after, added } };
  });
}

/** Lists of what was added grow; of everything else the last word counts. */
function join(earlier: Entry, later: Entry): Entry {
  const added = [...(earlier.after?.['added'] ?? []), ...(later.after?.['added'] ?? [])];
  const after = { ...later.after, ...(added.length > 0 ? { added } : {}) };
  return { ...later, before: earlier.before, after };
}
