import type { Change } from './journal.ts';
import { type Entry, nameEntry } from './step-kind.ts';

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
  for (const { action, entry } of changes) {
    const name = nameEntry(entry);
    const earlier = merged.get(name);
    if (action === 'remove') merged.delete(name);
    else merged.set(name, earlier === undefined ? entry : join(earlier, entry));
  }
  const place = (entry: Entry) => names.indexOf(nameEntry(entry));
  return [...merged.values()].sort((one, other) => place(one) - place(other));
}

/** Lists of what was added grow; of everything else the last word counts. */
function join(earlier: Entry, later: Entry): Entry {
  const added = [...(earlier.after?.['added'] ?? []), ...(later.after?.['added'] ?? [])];
  const after = { ...later.after, ...(added.length > 0 ? { added } : {}) };
  return { ...later, before: earlier.before, after };
}
