import type { Change, Journal } from './journal.ts';
import { kindOf } from './kinds.ts';
import { type Entry, nameEntry } from './journal-entry.ts';
import type { StepContext } from './step-kind.ts';

/**
 * Returns the entries of earlier installations that a plan no longer contains, such as the other mode's files, in the order in
 * which they were applied.
 * @param names those of the plan's steps
 */
export function listStale(
  { done }: Pick<Journal, 'done'>,
  names: readonly string[],
  context: StepContext,
): readonly Entry[] {
  return done.filter((entry) => isStale(entry, names, context));
}

function isStale(entry: Entry, names: readonly string[], context: StepContext): boolean {
  const { outlivesPlans, isWanted } = kindOf(entry);
  if (outlivesPlans || names.includes(nameEntry(entry))) return false;
  return isWanted?.(entry, names, context) !== true;
}

/**
 * Merges the changes of a run into the entries: each has the state before the first installation, and the result of the last
 * one.
 * @param names those of the plan, in the order of the result; entries of no plan come first
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
  const position = (entry: Entry) => names.indexOf(nameEntry(entry));
  const entries = [...merged.values()].sort((one, other) => position(one) - position(other));
  return removed.reduce(inherit, entries);
}

/** Moves the additions of a removed certificate, such as an ACME account, to the certificate that may still use them. */
function inherit(entries: readonly Entry[], removed: Entry): Entry[] {
  const successor = entries.find(({ kind }) => kind === removed.kind);
  const traces = removed.before.facts['traces'];
  return entries.map((entry) => {
    if (entry !== successor || traces === undefined) return entry;
    const facts = { ...entry.before.facts, traces };
    const added = [...(entry.after?.['added'] ?? []), ...(removed.after?.['added'] ?? [])];
    return { ...entry, before: { ...entry.before, facts }, after: { ...entry.after, added } };
  });
}

/** Joins two entries of a step: lists of additions are merged, everything else is replaced. */
function join(earlier: Entry, later: Entry): Entry {
  const added = [...(earlier.after?.['added'] ?? []), ...(later.after?.['added'] ?? [])];
  const after = { ...later.after, ...(added.length > 0 ? { added } : {}) };
  return { ...later, before: earlier.before, after };
}
