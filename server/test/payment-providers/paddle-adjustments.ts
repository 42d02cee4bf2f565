/** Paddle's refunds and chargebacks. Tests import `paddle-events.ts`. */
import {
  paddleId,
  sum,
  UNIT_AMOUNT,
  writeTime,
  writeTotals,
  writeType,
  PADDLE_IDS,
  paddleLineId,
  paddleEvent,
  type PaddleEvent,
  type PaddleEventOptions,
} from './paddle-event-parts.ts';
import { TEST_START } from '../test-clock.ts';

export interface PaddleAdjustmentOptions extends PaddleEventOptions {
  readonly adjustmentId?: string;
  readonly transactionId?: string;
  readonly subscriptionId?: string | null;
  readonly customerId?: string;
  /** Default: `refund`. */
  readonly action?: string;
  /** Default: `approved`. */
  readonly status?: string;
  /** `full` or `partial`. Default: `full`; null removes the field, as in older events. */
  readonly type?: 'full' | 'partial' | null;
  /** In cents, tax included. Default: the sum of the lines. */
  readonly total?: number;
  /** Default: the first line of the transaction, as a whole. */
  readonly lines?: readonly PaddleAdjustedLine[];
}

export interface PaddleAdjustedLine {
  /** `txnitm_…`; see `paddleLineId`. */
  readonly lineId: string;
  /** `full`, `partial`, `tax` or `proration`. Default: `full`; null removes the field. */
  readonly type?: string | null;
  /** In cents, tax included. Default: 2900. */
  readonly total?: number;
}

/** A refund, chargeback or other adjustment; approved and full by default. */
export function paddleAdjustment(
  type: 'created' | 'updated',
  options: PaddleAdjustmentOptions = {},
): PaddleEvent {
  const occurredAt = options.occurredAt ?? TEST_START;
  const id = options.adjustmentId ?? PADDLE_IDS.adjustment;
  const transactionId = options.transactionId ?? PADDLE_IDS.transaction;
  const lines = options.lines ?? [{ lineId: paddleLineId(transactionId) }];
  const total = options.total ?? sum(lines.map((line) => line.total ?? UNIT_AMOUNT));
  const data = {
    id,
    action: options.action ?? 'refund',
    ...writeType(options.type),
    transaction_id: transactionId,
    subscription_id: options.subscriptionId ?? null,
    customer_id: options.customerId ?? PADDLE_IDS.customer,
    reason: 'requested_by_customer',
    credit_applied_to_balance: null,
    currency_code: 'USD',
    status: options.status ?? 'approved',
    items: lines.map((line, ordinal) => ({
      id: paddleId('adjitm', `${id}:${ordinal}`),
      item_id: line.lineId,
      ...writeType(line.type),
      amount: String(line.total ?? UNIT_AMOUNT),
      proration: null,
      totals: writeTotals(line.total ?? UNIT_AMOUNT),
    })),
    totals: { ...writeTotals(total), fee: '0', earnings: String(total), currency_code: 'USD' },
    payout_totals: null,
    created_at: writeTime(occurredAt),
    // A new adjustment has no time of update.
    updated_at: type === 'created' ? '0001-01-01T00:00:00Z' : writeTime(occurredAt),
  };
  return paddleEvent(`adjustment.${type}`, data, options);
}
