import { isTestSource } from '@latchkey/contract';

import type { AdjustmentFact } from '../facts.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { Purchase } from './group-purchases.ts';
import type { PurchaseProblem } from './plan-licenses.ts';

/** A license from elsewhere, and the transaction that paid it there. */
interface PaidElsewhere {
  readonly provider: string;
  readonly transactionId: string;
  readonly licenseId: string;
}

/** A refund or dispute of a payment that is not known. */
interface OpenAdjustment {
  readonly purchase: Purchase;
  readonly adjustment: Purchase['facts']['adjustments'][number];
}

const CAUSES = {
  refund: (licenseId: string) =>
    `${ATTENTION_PREFIX}it pays back what was paid for the license ${licenseId} before that was here. If all was paid back, revoke the license: latchkey license revoke. Then dismiss the event.`,
  dispute: (licenseId: string) =>
    `${ATTENTION_PREFIX}it disputes what was paid for the license ${licenseId} before that was here. Suspend the license if you want to: latchkey license suspend. Then dismiss the event.`,
} as const;

const REVERSALS: Readonly<Partial<Record<AdjustmentFact['effect'], AdjustmentFact['effect']>>> = {
  chargeback: 'chargeback_reverse',
  chargeback_warning: 'chargeback_warning_reverse',
};

/** Lists refunds and open disputes of payments that no event has reported: those from before an import, or out of order. */
export function listEarlierPaidBack(purchases: readonly Purchase[]): OpenAdjustment[] {
  return purchases
    .filter(({ facts: { provider } }) => !isTestSource(provider))
    .flatMap((purchase) =>
      purchase.facts.adjustments
        .filter((each) => isOpen(each, purchase) && !isPaymentKnown(each, purchase))
        .map((adjustment) => ({ purchase, adjustment })),
    );
}

function isOpen(
  { effect, status, transactionId }: AdjustmentFact,
  { facts: { adjustments } }: Purchase,
): boolean {
  if (status !== 'approved') return false;
  if (effect === 'refund') return true;
  const reversal = REVERSALS[effect];
  if (reversal === undefined) return false;
  return !adjustments.some(
    (each) => each.transactionId === transactionId && each.effect === reversal,
  );
}

function isPaymentKnown({ transactionId }: AdjustmentFact, { facts }: Purchase): boolean {
  const setAside = facts.setAside.flatMap(({ payment }) => payment ?? []);
  return [...facts.payments, ...(facts.paidBack ?? []), ...setAside].some(
    (payment) => payment.transactionId === transactionId,
  );
}

/** Reports refunds and disputes of what paid a license elsewhere: nothing here computes that license from its payments. */
export function explainEarlierPaidBack(
  open: readonly OpenAdjustment[],
  paid: readonly PaidElsewhere[],
): PurchaseProblem[] {
  return open.flatMap(({ purchase, adjustment: { eventId, effect, transactionId } }) => {
    const { provider } = purchase.facts;
    const license = paid.find(
      (each) => each.provider === provider && each.transactionId === transactionId,
    );
    if (license === undefined) return [];
    const explain = effect === 'refund' ? CAUSES.refund : CAUSES.dispute;
    return [{ purchase, eventId, reason: explain(license.licenseId) }];
  });
}
