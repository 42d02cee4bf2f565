import type { BillingCycle, PaymentFact, SubscriptionFact } from '../facts.ts';
import { addCycle } from './billing-cycle.ts';
import type { PurchaseFacts } from './purchase.ts';

const DAY_MS = 86_400_000;

/**
 * The end of what was paid of a subscription, or null when nothing was. Only money extends it, and the first snapshot in
 * which the subscription was active: `past_due`, and the change that opens a renewal, already show the next, unpaid
 * period. Until the purchase's own period is known it ends one billing cycle after the purchase.
 * @param cycle how often it is paid, as far as known
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
 * The end of the period in which the subscription began. Where the first snapshots were lost, the oldest that is known may
 * be one that opens a renewal, hence of an unpaid period: it begins long after the purchase.
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
