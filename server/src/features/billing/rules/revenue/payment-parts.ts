import { providerOf } from '@latchkey/contract';

import { compareOccurrences, type BillingLine } from '../../facts.ts';
import { findPurchase, nameOrdered } from '../paid-lines.ts';
import type { PurchaseFacts } from '../group-purchases.ts';
import type { MergedPayment } from '../merge-versions.ts';

/** Returns the product of a price of a purchase; empty if it is unknown. */
export type NameProduct = (priceId: string) => string;

/**
 * Lists the lines that a payment pays. An order of the variant of a subscription at Lemon Squeezy pays that subscription. A payment
 * without lines pays all lines of its subscription: as they were soon after it, because a change is reported about when it is paid,
 * else as they were before.
 */
export function listLines(facts: PurchaseFacts, payment: MergedPayment): readonly BillingLine[] {
  if (payment.lines.length > 0) {
    return payment.lines.map((line) => findOrderedLine(facts, line) ?? line);
  }
  const listed = facts.snapshots.filter(({ lines }) => lines.length > 0);
  const then = listed.findLast((each) => compareOccurrences(each, payment) <= 0);
  return (
    (findSoonAfter(listed, payment) ?? then ?? listed[0])?.lines ??
    findPurchase(facts.payments)?.lines ??
    []
  );
}

const SOON_MS = 3_600_000;

function findSoonAfter(snapshots: PurchaseFacts['snapshots'], { occurredAt }: MergedPayment) {
  return snapshots.find((each) => {
    const delay = each.occurredAt.getTime() - occurredAt.getTime();
    return delay >= 0 && delay <= SOON_MS;
  });
}

/** Finds what an order of a subscription's variant started. */
function findOrderedLine(
  { provider, snapshots }: PurchaseFacts,
  { priceId, total }: BillingLine,
): BillingLine | null {
  if (providerOf(provider) !== 'lemonsqueezy') return null;
  const started = snapshots
    .flatMap(({ lines }) => lines)
    .find((line) => nameOrdered(line.priceId) === priceId);
  return started === undefined ? null : { ...started, total };
}

/** The parts of a key that a payment has. */
export function keyOf({ provider }: PurchaseFacts, payment: MergedPayment) {
  const { transactionId, currency = '', country = '' } = payment;
  return { provider, transactionId, currency, country };
}
