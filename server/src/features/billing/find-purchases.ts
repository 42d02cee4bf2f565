import type { Queryable } from '#server/db/statement.ts';

import type { ApplyDependencies } from './dependencies.ts';
import type { EventKey } from './facts.ts';
import { listPurchaseEntries, type LedgerReference } from './queries/purchases.ts';
import { groupPurchases, type Purchase } from './rules/group-purchases.ts';
import { listOpenCustomers } from './rules/pair-started.ts';
import { listRenewingCustomers } from './rules/plan-updates.ts';

/**
 * Finds the purchases of references. A subscription whose checkout is unknown, and a checkout whose subscription is unknown,
 * may be one purchase of their customer; a license and the renewals of its updates are purchases of one customer.
 */
export async function findPurchases(
  { catalog }: Pick<ApplyDependencies, 'catalog'>,
  client: Queryable,
  references: readonly LedgerReference[],
): Promise<Purchase[]> {
  const entries = await listPurchaseEntries(client, references);
  const purchases = groupPurchases(entries);
  const open = listOpenCustomers(
    purchases.map(({ facts }) => ({
      name: '',
      provider: facts.provider,
      facts: [...facts.payments, ...facts.snapshots],
    })),
  );
  const renewing = listRenewingCustomers(purchases, catalog());
  const customers = [...open, ...renewing].map(({ provider, customerId }) => ({
    provider,
    kind: 'customer' as const,
    id: customerId,
  }));
  if (customers.length === 0) return purchases;
  const wanted = new Set(entries.map(toKey));
  const all = groupPurchases(await listPurchaseEntries(client, [...references, ...customers]));
  const isRenewing = new Set(
    renewing.map(({ provider, customerId }) => `${provider} ${customerId}`),
  );
  return all.filter(
    ({ facts: { payments, provider }, eventIds }) =>
      [...eventIds].some((eventId) => wanted.has(toKey({ provider, eventId }))) ||
      payments.some(({ customerId }) => isRenewing.has(`${provider} ${customerId}`)),
  );
}

function toKey({ provider, eventId }: EventKey): string {
  return `${provider} ${eventId}`;
}
