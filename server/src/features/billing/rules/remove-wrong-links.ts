import { occurrenceOf, type Occurrence } from '../facts.ts';
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
  const linked = entries.map((entry) => ({ entry, link: toLink(entry) }));
  const owners = findOwners(linked.map(({ link }) => link));
  return linked.map(({ entry, link }) => {
    const isMisnamed =
      link !== null && owners.get(link.name)?.subscriptionId !== link.subscriptionId;
    const { eventId, provider, fact } = entry;
    return { eventId, provider, fact: isMisnamed ? unlink(fact) : fact, isMisnamed };
  });
}

/** Finds the link that names the subscription of each transaction. */
function findOwners(links: readonly (Link | null)[]): ReadonlyMap<string, Link> {
  const owners = new Map<string, Link>();
  for (const link of links) {
    if (link === null) continue;
    const known = owners.get(link.name);
    if (known === undefined || compareLinks(link, known) < 0) owners.set(link.name, link);
  }
  return owners;
}

function compareLinks(a: Link, b: Link): number {
  return Number(a.isSnapshot) - Number(b.isSnapshot) || compareVersions(a, b);
}

interface Link extends Occurrence {
  readonly eventId: string;
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
    ...occurrenceOf(fact),
    eventId,
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
