import type { Queryable } from '#server/db/statement.ts';

import { compareOccurrences, type CustomerDetails } from './facts.ts';
import { listCustomers } from './queries/purchases.ts';
import { mergeCustomer, type Purchase } from './rules/group-purchases.ts';

/** Who bought. */
export interface Buyer {
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
}

/**
 * Who bought each of the purchases, in their order: what is known of the customer, and where nothing is, what payments and
 * snapshots say themselves, the newest first.
 */
export async function findBuyers(
  client: Queryable,
  purchases: readonly Purchase[],
): Promise<Buyer[]> {
  const buyers = purchases.map(readBuyer);
  const wanted = purchases.flatMap(({ facts }, index) => {
    const customerId = buyers[index]?.customerId ?? null;
    return customerId === null ? [] : [{ provider: facts.provider, customerId }];
  });
  if (wanted.length === 0) return buyers;
  const known = new Map(
    (await listCustomers(client, wanted)).map((customer) => [
      `${customer.provider} ${customer.customerId}`,
      customer,
    ]),
  );
  return buyers.map(({ customerId, customer }, index) => {
    const found = known.get(`${purchases[index]?.facts.provider} ${customerId}`);
    if (found === undefined) return { customerId, customer };
    const { email, name, locale } = found;
    return { customerId, customer: mergeCustomer(customer, { email, name, locale }) };
  });
}

function readBuyer({ facts }: Purchase): Buyer {
  const told = [...facts.payments, ...facts.snapshots].sort(compareOccurrences);
  return {
    customerId: told.findLast(({ customerId }) => customerId !== null)?.customerId ?? null,
    customer: told.reduce<CustomerDetails>(
      (older, { customer }) => mergeCustomer(older, customer),
      { email: null, name: null, locale: null },
    ),
  };
}
