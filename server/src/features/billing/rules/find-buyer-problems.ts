import { providerOf } from '@latchkey/contract';

import { ATTENTION_PREFIX } from './event-state.ts';
import type { Purchase } from './group-purchases.ts';
import type { PurchaseProblem } from './plan-licenses.ts';

/** The stored details of a customer that matter here. */
interface KnownCustomer {
  readonly provider: string;
  readonly customerId: string;
  readonly email: string | null;
  readonly occurredAt: Date;
}

const OTHER_ADDRESS = `${ATTENTION_PREFIX}it names another address than the customer has, to which the keys go. Give each customer another id, or set the address: latchkey webhook set-address.`;

/**
 * Finds purchases whose checkout names another address than their customer had before: a shop may use one id for several customers.
 * Paddle's checkouts name an address in custom data, which may differ.
 */
export function findBuyerProblems(
  purchases: readonly Purchase[],
  customers: readonly KnownCustomer[],
): PurchaseProblem[] {
  return purchases.flatMap((purchase) => {
    const { provider, payments, repairs = [] } = purchase.facts;
    if (providerOf(provider) === 'paddle' || repairs.some(({ repair }) => repair === 'address'))
      return [];
    return payments
      .filter(({ origin }) => origin === 'purchase')
      .filter(({ customerId, customer, occurredAt }) => {
        const known = customers.find(
          (each) => each.provider === provider && each.customerId === customerId,
        );
        const isEarlier = known !== undefined && known.occurredAt < occurredAt;
        return isEarlier && isOther(customer.email, known.email);
      })
      .map(({ eventId }) => ({ purchase, eventId, reason: OTHER_ADDRESS }));
  });
}

function isOther(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && one.toLowerCase() !== other.toLowerCase();
}
