/** A complete backup in a directory. */
export interface StoredBackup {
  readonly name: string;
  /** The moment whose rows it contains. */
  readonly createdAt: Date;
}

/**
 * Returns the names of the backups that are no longer kept, oldest last: all but the newest ones. The one that was just written
 * is kept in any case: it looks old when the clock was set back, or when a backup that began later was complete before it.
 * Two commands at the same time rank the backups equally, so neither removes what the other one keeps.
 * @param written the one that was just written
 * @param others the backups beside it
 * @param keep how many of the newest are kept; at least 1
 */
export function listSurplus(
  written: StoredBackup,
  others: readonly StoredBackup[],
  keep: number,
): string[] {
  return [written, ...others]
    .toSorted(compareNewestFirst)
    .slice(keep)
    .filter((backup) => backup !== written)
    .map(({ name }) => name);
}

/** Of two backups of one moment, the one with the later name counts as newer. */
function compareNewestFirst(one: StoredBackup, other: StoredBackup): number {
  const difference = other.createdAt.getTime() - one.createdAt.getTime();
  if (difference !== 0) return difference;
  return one.name < other.name ? 1 : -1;
}
