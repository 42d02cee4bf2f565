import type { BillingCycle, PaymentFact } from '../facts.ts';
import { addCycle } from './add-cycle.ts';
import type { PurchaseFacts } from './purchase.ts';

/**
 * The end of what was paid of a subscription, or null when nothing was. Only money extends it, and the first snapshot in
 * which the subscription was active: `past_due`, and the change that opens a renewal, already show the next, unpaid
 * period. Until the purchase's own period is known it ends one billing cycle after the purchase.
 * @param cycle how often it is paid, as far as known
 */
export function paidThrough(facts: PurchaseFacts, cycle: BillingCycle | null): Date | null {
  const ends = facts.payments.flatMap((payment) => endOfPayment(payment, cycle) ?? []);
  if (facts.opening?.period != null) ends.push(facts.opening.period.endsAt);
  if (ends.length > 0) return new Date(Math.max(...ends.map((end) => end.getTime())));
  const purchase = facts.payments.find(({ origin }) => origin === 'purchase');
  if (purchase === undefined || cycle === null) return null;
  return addCycle(purchase.occurredAt, cycle);
}

function endOfPayment(payment: PaymentFact, cycle: BillingCycle | null): Date | null {
  if (payment.period !== null) return payment.period.endsAt;
  if (payment.origin !== 'renewal' || cycle === null) return null;
  return addCycle(payment.occurredAt, cycle);
}
