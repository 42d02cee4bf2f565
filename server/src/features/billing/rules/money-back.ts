import { compareOccurrences, type AdjustmentFact, type PaymentFact } from '../facts.ts';

/**
 * When a payment was given back as a whole, or as far as one of its lines is concerned; null when it was not. Several
 * partial refunds that add up to the total are a full one.
 * @param lineId the line that is asked for; null for the payment as a whole
 */
export function findRefund(
  payment: PaymentFact,
  adjustments: readonly AdjustmentFact[],
  lineId: string | null,
): Date | null {
  const refunds = adjustments
    .filter(({ effect, status }) => effect === 'refund' && status === 'approved')
    .filter(({ transactionId }) => transactionId === payment.transactionId)
    .sort(compareOccurrences);
  const line = payment.lines.find((candidate) => candidate.lineId === lineId);
  let backForAll = 0;
  let backForLine = 0;
  for (const refund of refunds) {
    backForAll += refund.total ?? 0;
    if (refund.full === true || reaches(backForAll, payment.total)) return refund.occurredAt;
    for (const part of refund.lines.filter((candidate) => candidate.lineId === lineId)) {
      backForLine += part.total ?? 0;
      if (part.full === true || reaches(backForLine, line?.total ?? null)) return refund.occurredAt;
    }
  }
  return null;
}

/** What counts as money that is fought over, and what takes it back. */
interface DisputeKind {
  readonly effect: AdjustmentFact['effect'];
  readonly reversal: AdjustmentFact['effect'];
}

const CHARGEBACK: DisputeKind = { effect: 'chargeback', reversal: 'chargeback_reverse' };

const WARNING: DisputeKind = {
  effect: 'chargeback_warning',
  reversal: 'chargeback_warning_reverse',
};

/**
 * Since when a purchase's money is fought over: the oldest chargeback or warning that nothing has taken back yet; null
 * when there is none.
 */
export function findDispute(
  payments: readonly PaymentFact[],
  adjustments: readonly AdjustmentFact[],
): Date | null {
  const open = listOpenDisputes(payments, adjustments);
  if (open.length === 0) return null;
  return new Date(Math.min(...open.map(({ occurredAt }) => occurredAt.getTime())));
}

/**
 * The chargebacks and warnings of a purchase's payments that nothing has taken back yet. A warning is as good as the
 * chargeback to come, and over with it: that is the one of which the end is told.
 */
export function listOpenDisputes(
  payments: readonly PaymentFact[],
  adjustments: readonly AdjustmentFact[],
): AdjustmentFact[] {
  return payments.flatMap(({ transactionId }) => {
    const concerned = adjustments.filter((each) => each.transactionId === transactionId);
    const chargebacks = listOpen(concerned, CHARGEBACK);
    const warnings = listOpen(concerned, WARNING);
    if (chargebacks.length > 0) return [...chargebacks, ...warnings];
    return warnings.filter((warning) => !cameTrue(warning, concerned));
  });
}

function cameTrue(warning: AdjustmentFact, adjustments: readonly AdjustmentFact[]): boolean {
  return adjustments.some(
    (fact) =>
      fact.effect === 'chargeback' &&
      fact.status !== 'pending' &&
      compareOccurrences(fact, warning) >= 0,
  );
}

/**
 * A payment's disputes of one kind that are open. Each reversal takes back one of them, the oldest first; but one that is
 * told to be reversed has used a reversal up, which must not speak for a later one as well.
 */
function listOpen(
  adjustments: readonly AdjustmentFact[],
  { effect, reversal }: DisputeKind,
): AdjustmentFact[] {
  const of = (wanted: AdjustmentFact['effect'], status: AdjustmentFact['status']) =>
    adjustments.filter((each) => each.effect === wanted && each.status === status);
  const unspent = of(reversal, 'approved').length - of(effect, 'reversed').length;
  return of(effect, 'approved').sort(compareOccurrences).slice(Math.max(0, unspent));
}

function reaches(back: number, total: number | null): boolean {
  return total !== null && total > 0 && back >= total;
}
