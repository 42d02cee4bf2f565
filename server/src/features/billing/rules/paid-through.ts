import type { BillingCycle, PaymentFact, SubscriptionFact } from '../facts.ts';
import { addCycle } from './billing-cycle.ts';
import type { PurchaseFacts } from './group-purchases.ts';

const DAY_MS = 86_400_000;

/**
 * Returns the end of the paid time of a subscription, or null if nothing was paid. Only payments and the first active
 * snapshot extend it: `past_due` snapshots and those at the start of a renewal already contain the next, unpaid period. Until
 * the period of the purchase is known, it ends one billing cycle after the purchase.
 * @param cycle null if unknown
 */
export function paidThrough(facts: PurchaseFacts, cycle: BillingCycle | null): Date | null {
  const ends = facts.payments.flatMap((payment) => endOfPayment(payment, cycle) ?? []);
  const purchase = facts.payments.find(({ origin }) => origin === 'purchase');
  const opening = findOpening(facts.snapshots, purchase);
  if (opening !== null) ends.push(opening);
  if (ends.length > 0) return new Date(Math.max(...ends.map((end) => end.getTime())));
  if (purchase === undefined || cycle === null) return null;
  return addCycle(purchase.occurredAt, cycle);
}

/**
 * Returns the end of the first period. If the first snapshots are missing, the oldest known one may be that of an unpaid
 * renewal; such a period starts long after the purchase, and does not count.
 */
function findOpening(
  snapshots: readonly SubscriptionFact[],
  purchase: PaymentFact | undefined,
): Date | null {
  const opening = snapshots.find(
    ({ status, period }) => (status === 'active' || status === 'trialing') && period !== null,
  );
  const period = opening?.period ?? null;
  if (period === null) return null;
  if (purchase === undefined) return period.endsAt;
  const isLater = period.startsAt.getTime() > purchase.occurredAt.getTime() + DAY_MS;
  return isLater ? null : period.endsAt;
}

function endOfPayment(payment: PaymentFact, cycle: BillingCycle | null): Date | null {
  if (payment.origin === 'other') return null;
  if (payment.period !== null) return payment.period.endsAt;
  if (payment.origin !== 'renewal' || cycle === null) return null;
  return addCycle(payment.occurredAt, cycle);
}
