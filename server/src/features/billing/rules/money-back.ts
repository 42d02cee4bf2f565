import type { AdjustmentFact, PaymentFact } from '../facts.ts';

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
    .sort((a, b) => a.occurredAt.getTime() - b.occurredAt.getTime());
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

/**
 * Since when a purchase's money is fought over: the oldest chargeback that nothing has taken back yet; null when there is
 * none. Each reversal takes back one chargeback of its payment.
 */
export function findDispute(
  payments: readonly PaymentFact[],
  adjustments: readonly AdjustmentFact[],
): Date | null {
  let oldest: Date | null = null;
  for (const { transactionId } of payments) {
    const concerned = adjustments.filter(
      (adjustment) =>
        adjustment.transactionId === transactionId && adjustment.status === 'approved',
    );
    const reversals = concerned.filter(({ effect }) => effect === 'chargeback_reverse').length;
    const [open] = concerned
      .filter(({ effect }) => effect === 'chargeback')
      .map(({ occurredAt }) => occurredAt)
      .sort((a, b) => a.getTime() - b.getTime())
      .slice(reversals);
    if (open !== undefined && (oldest === null || open < oldest)) oldest = open;
  }
  return oldest;
}

function reaches(back: number, total: number | null): boolean {
  return total !== null && total > 0 && back >= total;
}
