import type { Queryable } from '#server/db/statement.ts';

import type { EventKey } from './facts.ts';
import { listPurchaseEntries, type LedgerReference } from './queries/purchases.ts';
import { groupPurchases, type Purchase } from './rules/group-purchases.ts';
import { listOpenCustomers } from './rules/pair-started.ts';

/**
 * Finds the purchases of references. A subscription whose checkout is unknown, and a checkout whose subscription is unknown,
 * may be one purchase of their customer.
 */
export async function findPurchases(
  client: Queryable,
  references: readonly LedgerReference[],
): Promise<Purchase[]> {
  const entries = await listPurchaseEntries(client, references);
  const purchases = groupPurchases(entries);
  const customers = listOpenCustomers(
    purchases.map(({ facts }) => ({
      name: '',
      provider: facts.provider,
      facts: [...facts.payments, ...facts.snapshots],
    })),
  ).map(({ provider, customerId }) => ({ provider, kind: 'customer' as const, id: customerId }));
  if (customers.length === 0) return purchases;
  const wanted = new Set(entries.map(toKey));
  const all = groupPurchases(await listPurchaseEntries(client, [...references, ...customers]));
  return all.filter(({ facts: { provider }, eventIds }) =>
    [...eventIds].some((eventId) => wanted.has(toKey({ provider, eventId }))),
  );
}

function toKey({ provider, eventId }: EventKey): string {
  return `${provider} ${eventId}`;
}
