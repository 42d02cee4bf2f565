import type { UpdatesEntry } from '../../licenses/rules/updates-until.ts';
import type { SoldProduct } from './compute-licenses.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import type { LinePayment, PaidTime } from './paid-through.ts';

/** The updates that a line pays. */
export type DraftUpdates = Pick<UpdatesEntry, 'days' | 'endsAt' | 'paidAt' | 'withdrawnAt'>;

/** Whether a product is sold with updates for a time, or is updates only. */
function paysUpdates(product: SoldProduct | null): boolean {
  return product !== null && (product.givesUpdates === true || product.updatesDays != null);
}

/** Returns the days of updates that one payment of a product includes; null: all. */
export function toDays(
  product: SoldProduct | null,
  paidAt: Date,
  withdrawnAt: Date | null,
): DraftUpdates | null {
  if (!paysUpdates(product)) return null;
  return { days: product?.updatesDays ?? null, endsAt: null, paidAt, withdrawnAt };
}

/** Returns the updates that the line of a subscription includes: until the end of its paid time; null: all. */
export function toPaidTime(
  product: SoldProduct | null,
  paid: PaidTime,
  { snapshots }: PurchaseFacts,
  payments: readonly LinePayment[],
  disputedAt: Date | null,
): DraftUpdates | null {
  if (!paysUpdates(product)) return null;
  const paidAt = payments.at(-1)?.payment.occurredAt ?? new Date(0);
  const reportedAt = snapshots.findLast(({ status }) => status === 'active')?.occurredAt ?? paidAt;
  return {
    days: null,
    endsAt: paid.endsAt,
    paidAt: reportedAt > paidAt ? reportedAt : paidAt,
    withdrawnAt: paid.refundedAt ?? disputedAt,
  };
}
