import { compareOccurrences, type BillingLine } from '../../facts.ts';
import { findPurchase } from '../paid-lines.ts';
import type { PurchaseFacts } from '../group-purchases.ts';
import type { MergedPayment } from '../merge-versions.ts';

/** Returns the product of a price of a purchase; empty if it is unknown. */
export type NameProduct = (priceId: string) => string;

/** A payment without lines pays all lines of its subscription, as they were then. */
export function listLines(facts: PurchaseFacts, payment: MergedPayment): readonly BillingLine[] {
  if (payment.lines.length > 0) return payment.lines;
  const listed = facts.snapshots.filter(({ lines }) => lines.length > 0);
  const then = listed.findLast((each) => compareOccurrences(each, payment) <= 0);
  return (then ?? listed[0])?.lines ?? findPurchase(facts.payments)?.lines ?? [];
}

/** The parts of a key that a payment has. */
export function keyOf({ provider }: PurchaseFacts, payment: MergedPayment) {
  const { transactionId, currency = '', country = '' } = payment;
  return { provider, transactionId, currency, country };
}
