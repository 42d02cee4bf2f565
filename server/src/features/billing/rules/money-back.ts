import { compareOccurrences, type AdjustmentFact, type PaymentFact } from '../facts.ts';

/**
 * Returns when a payment, or one of its lines, was refunded in full; null if it was not. Partial refunds that add up to the
 * total are a full refund.
 * @param lineId null for the whole payment
 */
export function findRefund(
  payment: PaymentFact,
  adjustments: readonly AdjustmentFact[],
  lineId: string | null,
): Date | null {
  // Asked for each line of each payment; most purchases have no adjustments.
  if (adjustments.length === 0) return null;
  const refunds = adjustments
    .filter(({ effect, status }) => effect === 'refund' && status === 'approved')
    .filter(({ transactionId }) => transactionId === payment.transactionId)
    .sort(compareOccurrences);
  const line = payment.lines.find((candidate) => candidate.lineId === lineId);
  let refundedTotal = 0;
  let refundedOfLine = 0;
  for (const refund of refunds) {
    refundedTotal += Math.max(0, refund.total ?? 0);
    if (refund.full === true || covers(refundedTotal, payment.total)) return refund.occurredAt;
    for (const part of refund.lines.filter((candidate) => candidate.lineId === lineId)) {
      refundedOfLine += Math.max(0, part.total ?? 0);
      if (part.full === true || covers(refundedOfLine, line?.total ?? null))
        return refund.occurredAt;
    }
  }
  return null;
}

/** A kind of dispute and its reversal. */
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
 * Returns the time of the oldest open chargeback or warning of payments, or null. A partial one that names lines concerns only these.
 * @param findLine returns the id of the line within a payment; null: the whole payment
 */
export function findDispute(
  payments: readonly PaymentFact[],
  adjustments: readonly AdjustmentFact[],
  findLine: (payment: PaymentFact) => string | null,
): Date | null {
  if (adjustments.length === 0) return null;
  const open = payments.flatMap((payment) => {
    const lineId = findLine(payment);
    return listOpenDisputes([payment], adjustments).filter(
      ({ full, lines }) =>
        full !== false ||
        lineId === null ||
        lines.length === 0 ||
        lines.some((each) => each.lineId === lineId),
    );
  });
  if (open.length === 0) return null;
  return new Date(Math.min(...open.map(({ occurredAt }) => occurredAt.getTime())));
}

/**
 * Lists the open chargebacks and warnings of a purchase's payments. A warning counts like the chargeback that follows it, and
 * is closed with it, because only the end of the chargeback is reported.
 */
export function listOpenDisputes(
  payments: readonly PaymentFact[],
  adjustments: readonly AdjustmentFact[],
): AdjustmentFact[] {
  return payments.flatMap(({ transactionId }) => {
    const ofPayment = adjustments.filter((each) => each.transactionId === transactionId);
    const chargebacks = listOpen(ofPayment, CHARGEBACK);
    const warnings = listOpen(ofPayment, WARNING);
    if (chargebacks.length > 0) return [...chargebacks, ...warnings];
    return warnings.filter((warning) => !becameChargeback(warning, ofPayment));
  });
}

function becameChargeback(
  warning: AdjustmentFact,
  adjustments: readonly AdjustmentFact[],
): boolean {
  return adjustments.some(
    (fact) =>
      fact.effect === 'chargeback' &&
      fact.status !== 'pending' &&
      compareOccurrences(fact, warning) >= 0,
  );
}

/**
 * Lists a payment's open disputes of one kind. Each reversal closes one of them, oldest first; a dispute that is itself
 * reported as reversed has consumed one reversal, which must not close another dispute.
 */
function listOpen(
  adjustments: readonly AdjustmentFact[],
  { effect, reversal }: DisputeKind,
): AdjustmentFact[] {
  const of = (wanted: AdjustmentFact['effect'], status: AdjustmentFact['status']) =>
    adjustments.filter((each) => each.effect === wanted && each.status === status);
  const remaining = of(reversal, 'approved').length - of(effect, 'reversed').length;
  return of(effect, 'approved').sort(compareOccurrences).slice(Math.max(0, remaining));
}

function covers(refunded: number, total: number | null): boolean {
  return total !== null && total > 0 && refunded >= total;
}
