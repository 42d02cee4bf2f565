import type { Queryable } from '#server/db/statement.ts';

import { compareOccurrences, UNKNOWN_CUSTOMER, type CustomerDetails } from './facts.ts';
import { listCustomers } from './queries/purchases.ts';
import { mergeCustomer, type Purchase } from './rules/group-purchases.ts';

/** The buyer of a purchase. */
export interface Buyer {
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
}

/**
 * Finds the buyer of each purchase. The stored details of the customer take precedence over those in payments and
 * snapshots, and newer ones of these over older ones.
 */
export async function findBuyers(
  client: Queryable,
  purchases: readonly Purchase[],
): Promise<ReadonlyMap<Purchase, Buyer>> {
  const buyers = purchases.map((purchase) => ({ purchase, ...readBuyer(purchase) }));
  const keys = buyers.flatMap(({ purchase, customerId }) =>
    customerId === null ? [] : [{ provider: purchase.facts.provider, customerId }],
  );
  const stored = keys.length === 0 ? [] : await listCustomers(client, keys);
  return new Map(
    buyers.map(({ purchase, customerId, customer }) => {
      const { provider } = purchase.facts;
      const found = stored.find(
        (each) => each.customerId === customerId && each.provider === provider,
      );
      const newest = found?.customer ?? UNKNOWN_CUSTOMER;
      return [purchase, { customerId, customer: mergeCustomer(customer, newest) }];
    }),
  );
}

function readBuyer({ facts }: Purchase): Buyer {
  const ordered = [...facts.payments, ...facts.snapshots].sort(compareOccurrences);
  return {
    customerId: ordered.findLast(({ customerId }) => customerId !== null)?.customerId ?? null,
    customer: ordered.reduce(
      (older, { customer }) => mergeCustomer(older, customer),
      UNKNOWN_CUSTOMER,
    ),
  };
}
