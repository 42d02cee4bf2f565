import type { LicenseDraft } from './compute-licenses.ts';
import type { BilledLine, Checkout } from './plan-licenses.ts';

/** What is to be stored, and deleted, so that a license is found by its checkout only. */
interface CheckoutChanges {
  readonly missing: readonly Checkout[];
  readonly outdated: readonly Checkout[];
}

/** Compares the checkout of a license with those by which it is found; what is not known to be stored is a change. */
export function compareCheckouts(
  {
    checkoutId,
    transactionId,
    position,
  }: Pick<LicenseDraft, 'checkoutId' | 'transactionId' | 'position'>,
  line: Pick<BilledLine, 'transactionId' | 'checkouts'>,
): CheckoutChanges {
  const { checkouts } = line;
  const wanted = checkoutId === null ? [] : [{ transactionId: checkoutId, position }];
  const isStored = (one: Checkout): boolean =>
    checkouts?.some(
      (each) => each.transactionId === one.transactionId && each.position === one.position,
    ) === true;
  const mayBeStored = (id: string): boolean =>
    checkouts === undefined || checkouts.some((each) => each.transactionId === id);
  return {
    missing: wanted.filter((each) => !isStored(each)),
    outdated: [...new Set([transactionId, line.transactionId])]
      .filter((id) => id !== checkoutId && mayBeStored(id))
      .map((id) => ({ transactionId: id, position })),
  };
}
