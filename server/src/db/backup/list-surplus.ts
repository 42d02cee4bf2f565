/** A complete backup in a directory. */
export interface StoredBackup {
  readonly name: string;
  /** The moment whose rows it contains. */
  readonly createdAt: Date;
}

/**
 * Returns the names of the backups that are no longer kept, oldest last. The one that was just written is kept in any case,
 * also when the clock was set back and it looks old.
 * @param others the backups beside the one that was just written
 * @param keep how many are kept with the one that was just written; at least 1
 */
export function listSurplus(others: readonly StoredBackup[], keep: number): string[] {
  return others
    .toSorted(compareNewestFirst)
    .slice(keep - 1)
    .map(({ name }) => name);
}

/** Of two backups of one moment, the one with the later name counts as newer. */
function compareNewestFirst(one: StoredBackup, other: StoredBackup): number {
  const difference = other.createdAt.getTime() - one.createdAt.getTime();
  if (difference !== 0) return difference;
  return one.name < other.name ? 1 : -1;
}
