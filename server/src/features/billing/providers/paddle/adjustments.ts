import type { AdjustmentFact, Occurrence } from '../../facts.ts';
import { readAmount } from './amounts.ts';
import { ignored, type Reading } from './reading.ts';
import type { Adjustment } from './schemas.ts';

const EFFECTS: ReadonlyMap<string, AdjustmentFact['effect']> = new Map([
  ['refund', 'refund'],
  ['chargeback', 'chargeback'],
  ['chargeback_warning', 'chargeback_warning'],
  ['chargeback_reverse', 'chargeback_reverse'],
  ['chargeback_warning_reverse', 'chargeback_warning_reverse'],
  ['credit', 'none'],
  ['credit_reverse', 'none'],
]);

const STATUSES: ReadonlyMap<string, AdjustmentFact['status']> = new Map([
  ['pending_approval', 'pending'],
  ['approved', 'approved'],
  ['rejected', 'rejected'],
  ['reversed', 'reversed'],
]);

/** Besides `full`; older events have no type. */
const PARTS: ReadonlySet<string> = new Set(['partial', 'tax', 'proration']);

/** Money goes back, or is fought over. */
export function readAdjustment(adjustment: Adjustment, occurrence: Occurrence): Reading {
  const effect = EFFECTS.get(adjustment.action);
  if (effect === undefined) return ignored('The adjustment has an action that is not known.');
  const status = STATUSES.get(adjustment.status);
  if (status === undefined) return ignored('The adjustment has a status that is not known.');
  const fact: AdjustmentFact = {
    kind: 'adjustment',
    adjustmentId: adjustment.id,
    transactionId: adjustment.transaction_id,
    ...occurrence,
    effect,
    status,
    full: isFull(adjustment.type),
    total: readAmount(adjustment.totals?.total),
    lines: (adjustment.items ?? []).map((item) => ({
      lineId: item.item_id,
      full: isFull(item.type),
      total: readAmount(item.totals?.total) ?? readAmount(item.amount),
    })),
  };
  return { fact };
}

function isFull(type: string | null | undefined): boolean | null {
  if (type === 'full') return true;
  return PARTS.has(type ?? '') ? false : null;
}
