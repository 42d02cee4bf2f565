import { compareOccurrences, type AdjustmentFact, type BillingLine } from '../facts.ts';
import type { FindProduct, LicenseDraft } from './compute-licenses.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { Problem } from './find-problems.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import type { MergedPayment, Sourced } from './merge-versions.ts';
import { findRefund } from './money-back.ts';

/** Providers round the price of each key. */
const TOLERANCE = 0.01;

/**
 * Finds refunds that pay back some of the keys of a line. Which keys, and whether it is a favour that has the price of a key, nobody
 * but the seller knows, so that no key is ended; a smaller amount than the price of one key is a favour.
 */
export function findRefundedKeys(
  facts: PurchaseFacts,
  drafts: readonly LicenseDraft[],
  findProduct: FindProduct,
): Problem[] {
  const { payments, adjustments } = facts;
  const isKeys = ({ priceId }: BillingLine): boolean =>
    [
      findProduct(priceId),
      ...drafts.map((draft) => (draft.priceId === priceId ? draft.product : null)),
    ].some((product) => product?.quantityAs === 'keys');
  return payments.flatMap((payment) =>
    payment.lines
      .filter((line) => line.quantity > 1 && isKeys(line))
      .filter(({ lineId }) => findRefund(payment, adjustments, lineId) === null)
      .flatMap((line) => explainLine(payment, line, adjustments)),
  );
}

function explainLine(
  payment: MergedPayment,
  line: BillingLine,
  adjustments: PurchaseFacts['adjustments'],
): Problem[] {
  const { quantity, total } = line;
  const refunds = adjustments
    .filter(({ effect, status }) => effect === 'refund' && status === 'approved')
    .filter(({ transactionId }) => transactionId === payment.transactionId)
    .flatMap((refund) => toPart(payment, line, refund) ?? [])
    .sort((one, other) => compareOccurrences(one.refund, other.refund));
  const newest = refunds.at(-1)?.refund;
  const paid = total ?? (payment.lines.length === 1 ? payment.total : null);
  if (newest === undefined || paid === null || paid <= 0) return [];
  const amount = refunds.reduce((sum, each) => sum + each.amount, 0);
  const keys = Math.floor((amount / paid) * quantity + TOLERANCE);
  return keys === 0 ? [] : [{ eventId: newest.eventId, reason: explain(keys, quantity) }];
}

interface RefundedPart {
  readonly refund: Sourced<AdjustmentFact>;
  readonly amount: number;
}

/** A refund that names no lines is of the only line. */
function toPart(
  { lines }: MergedPayment,
  { lineId }: BillingLine,
  refund: Sourced<AdjustmentFact>,
): RefundedPart | null {
  const part = refund.lines.find((each) => each.lineId === lineId);
  if (part !== undefined) return { refund, amount: part.total ?? 0 };
  return lines.length === 1 && refund.lines.length === 0
    ? { refund, amount: refund.total ?? 0 }
    : null;
}

function explain(keys: number, quantity: number): string {
  return `${ATTENTION_PREFIX}it pays back ${keys} of ${quantity} keys, and all of them work. Revoke as many (latchkey license revoke), those without a machine and the newest first, and dismiss the event; or dismiss it if it was a favour.`;
}
