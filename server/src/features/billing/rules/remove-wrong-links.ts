import type { PurchaseFact } from '../facts.ts';
import { compareVersions } from './compare-facts.ts';
import type { LedgerEntry } from './group-purchases.ts';

/** An entry, and whether its event named a transaction of another subscription; the link is then removed. */
export interface NamedEntry extends LedgerEntry {
  readonly isMisnamed: boolean;
}

/**
 * Removes the links of facts to transactions of other subscriptions: one wrong id would join the purchases of two buyers. A
 * transaction belongs to the subscription that its oldest payment names, or else the oldest snapshot.
 */
export function removeWrongLinks(entries: readonly LedgerEntry[]): NamedEntry[] {
  const owners = findOwners(entries);
  return entries.map((entry) => {
    const link = toLink(entry);
    const isMisnamed = link !== null && owners.get(link.name) !== link.subscriptionId;
    return isMisnamed
      ? { ...entry, fact: unlink(entry.fact), isMisnamed }
      : { ...entry, isMisnamed };
  });
}

/** Finds the subscription of each transaction. */
function findOwners(entries: readonly LedgerEntry[]): ReadonlyMap<string, string> {
  const owners = new Map<string, string>();
  const ordered = entries
    .flatMap((entry) => toLink(entry) ?? [])
    .sort(
      (a, b) =>
        Number(a.isSnapshot) - Number(b.isSnapshot) || compareVersions(a.version, b.version),
    );
  for (const { name, subscriptionId } of ordered) {
    if (!owners.has(name)) owners.set(name, subscriptionId);
  }
  return owners;
}

interface Link {
  readonly version: PurchaseFact & { readonly eventId: string };
  readonly name: string;
  readonly subscriptionId: string;
  readonly isSnapshot: boolean;
}

function toLink({ fact, provider, eventId }: LedgerEntry): Link | null {
  if (fact.kind === 'adjustment' || fact.kind === 'repair') return null;
  const { transactionId, subscriptionId } = fact;
  if (transactionId === null || subscriptionId === null) return null;
  const isSnapshot = fact.kind === 'subscription';
  return {
    version: { ...fact, eventId },
    name: `${provider} ${transactionId}`,
    subscriptionId,
    isSnapshot,
  };
}

function unlink(fact: LedgerEntry['fact']): LedgerEntry['fact'] {
  switch (fact.kind) {
    case 'payment':
      return { ...fact, subscriptionId: null };
    case 'subscription':
      return { ...fact, transactionId: null };
    case 'adjustment':
    case 'repair':
      return fact;
  }
}
