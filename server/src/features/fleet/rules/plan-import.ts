import type { ServerEntry } from './entry.ts';

/** What an import does to the list. */
export interface ImportPlan {
  readonly added: readonly ServerEntry[];
  /** Those that are listed with another name or other labels. */
  readonly changed: readonly ServerEntry[];
  readonly unchanged: number;
}

/**
 * Compares entries with the listed servers by their addresses.
 * @param entries with different addresses
 */
export function planImport(
  listed: readonly ServerEntry[],
  entries: readonly ServerEntry[],
): ImportPlan {
  const byAddress = new Map(listed.map((server) => [server.address, server]));
  const added = entries.filter(({ address }) => !byAddress.has(address));
  const changed = entries.filter((entry) => {
    const server = byAddress.get(entry.address);
    return server !== undefined && !isSame(server, entry);
  });
  return { added, changed, unchanged: entries.length - added.length - changed.length };
}

/** Returns the index of the first entry whose address an earlier one has; -1 if all differ. */
export function findRepeated(entries: readonly ServerEntry[]): number {
  const seen = new Set<string>();
  return entries.findIndex(({ address }) => seen.size === seen.add(address).size);
}

function isSame(one: ServerEntry, other: ServerEntry): boolean {
  return (
    one.name === other.name &&
    one.labels.length === other.labels.length &&
    one.labels.every((label, index) => label === other.labels[index])
  );
}
