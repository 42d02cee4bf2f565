import {
  UNKNOWN_CUSTOMER,
  type BillingProvider,
  type PaymentFact,
  type SubscriptionFact,
} from '../../billing/facts.ts';
import { computeLicenses, type LicenseDraft } from '../../billing/rules/compute-licenses.ts';
import { createSaleFinder } from '../../billing/rules/find-sale.ts';
import { groupPurchases } from '../../billing/rules/group-purchases.ts';
import type { SoldCatalog } from '../../billing/rules/plan-licenses.ts';

/** A subscription that began at a provider before its webhooks arrived here. */
export interface EarlierSubscription {
  readonly provider: BillingProvider;
  readonly snapshot: SubscriptionFact;
  /** The end of the last paid period, if the subscription is not active; null if nothing was paid. */
  readonly paidUntil: Date | null;
}

const DAY_MS = 86_400_000;

/**
 * Computes the licenses of a subscription by the rules for webhooks: what the provider reports as paid counts as one payment.
 * Empty for a subscription that was never paid and is not in its trial.
 */
export function computeSubscription(
  { provider, snapshot, paidUntil }: EarlierSubscription,
  catalog: SoldCatalog,
): LicenseDraft[] {
  const payment = toPayment(snapshot, paidUntil);
  if (payment === null) return [];
  const facts = [payment, snapshot];
  const entries = facts.map((fact) => ({ provider, eventId: `import ${fact.kind}`, fact }));
  return groupPurchases(entries).flatMap((purchase) => {
    const sale = createSaleFinder(purchase, [], catalog, []);
    return computeLicenses(purchase.facts, sale.findProduct, sale.countParts);
  });
}

function toPayment(snapshot: SubscriptionFact, paidUntil: Date | null): PaymentFact | null {
  const { status, subscriptionId, customerId, occurredAt } = snapshot;
  const isCurrent = status === 'active' || status === 'trialing';
  const current = isCurrent ? snapshot.period : null;
  // Only the end of a past period matters.
  const past =
    paidUntil === null
      ? null
      : { startsAt: new Date(paidUntil.getTime() - DAY_MS), endsAt: paidUntil };
  const period = current ?? past;
  if (period === null) return null;
  return {
    kind: 'payment',
    transactionId: subscriptionId,
    subscriptionId,
    origin: 'renewal',
    customerId,
    customer: UNKNOWN_CUSTOMER,
    occurredAt,
    period,
    // It pays all lines of the snapshot.
    lines: [],
    // A trial has no grace period.
    total: status === 'trialing' ? 0 : null,
  };
}
