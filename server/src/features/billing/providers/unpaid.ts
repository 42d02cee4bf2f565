import { describeUnknownValue } from '../rules/event-state.ts';

/** The words of a provider for an order that is paid, possibly refunded later, and for one that is not. */
interface OrderStates {
  readonly paid: readonly string[];
  readonly unpaid: readonly string[];
}

/**
 * Returns why an order grants nothing; null if it is paid. An order whose state is missing or unknown grants nothing either, but may
 * be paid: an operator has to look at it.
 */
export function findUnpaidReason(
  status: unknown,
  { paid, unpaid }: OrderStates,
  reason = 'The order is not paid.',
): string | null {
  if (paid.some((each) => each === status)) return null;
  if (unpaid.some((each) => each === status)) return reason;
  return describeUnknownValue('the order has an unknown status');
}
