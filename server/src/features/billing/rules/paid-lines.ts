import { providerOf } from '@latchkey/contract';

import type { BillingLine } from '../facts.ts';
import { assignPayments } from './assign-payments.ts';
import { compareVersions } from './compare-facts.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import type { MergedPayment } from './merge-versions.ts';
import type { LinePayment } from './paid-through.ts';
import { trackLines, type TrackedLine } from './track-lines.ts';

/** The lines of a purchase's subscription, and what pays them. */
export interface PaidLines {
  /** The recurring lines of the oldest known payment: the first tracked lines, in their order. */
  readonly bought: readonly BillingLine[];
  /** The payments of each line, oldest first; the lines in the order of their appearance. */
  readonly payments: ReadonlyMap<TrackedLine, readonly LinePayment[]>;
}

/** Tracks the lines of a purchase's subscription through all facts, and finds the payments of each. */
export function trackPaidLines(all: PurchaseFacts): PaidLines {
  const facts = withoutSubscriptionOrders(all);
  const lines = findFirst(facts.payments)?.lines ?? [];
  const bought = lines.filter(({ cycle, quantity }) => cycle !== null && quantity !== 0);
  const tracked = trackLines(bought, facts.snapshots);
  return { bought, payments: assignPayments(withPaidBack(facts), tracked) };
}

/** The provider's report of a period may count for a payment that is set aside, so its refund ends that period. */
function withPaidBack(facts: PurchaseFacts): PurchaseFacts {
  const { payments, paidBack = [] } = facts;
  if (paidBack.length === 0) return facts;
  return { ...facts, payments: [...payments, ...paidBack].sort(compareVersions) };
}

/**
 * At Lemon Squeezy an order of the variant of a subscription is the first payment of that subscription, and no sale of its
 * own.
 */
export function withoutSubscriptionOrders(facts: PurchaseFacts): PurchaseFacts {
  if (providerOf(facts.provider) !== 'lemonsqueezy') return facts;
  const variants = new Set(
    facts.snapshots.flatMap(({ lines }) => lines.map(({ priceId }) => nameOrdered(priceId))),
  );
  const payments = facts.payments.map((payment) => ({
    ...payment,
    lines: payment.lines.filter(({ priceId }) => !variants.has(priceId)),
  }));
  return { ...facts, payments };
}

/** Names the variant of a subscription as an order of Lemon Squeezy does, which does not say whether it is one. */
export function nameOrdered(variantId: string): string {
  return `once:${variantId}`;
}

/** Finds the checkout: the oldest purchase, because providers may report later charges as purchases too. */
export function findPurchase(payments: readonly MergedPayment[]): MergedPayment | null {
  return payments.find(({ origin }) => origin === 'purchase') ?? null;
}

/** Finds the checkout, or else the oldest known renewal of a subscription that began before. */
export function findFirst(payments: readonly MergedPayment[]): MergedPayment | null {
  return findPurchase(payments) ?? payments.find(({ origin }) => origin === 'renewal') ?? null;
}
