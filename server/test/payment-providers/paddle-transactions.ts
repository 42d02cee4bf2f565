/** Paddle's events about transactions. Tests import `paddle-events.ts`. */
import {
  lineTotal,
  paddleId,
  sum,
  UNIT_AMOUNT,
  writePayment,
  writePeriod,
  writePrice,
  writeProduct,
  writeTime,
  writeTotals,
  writeTransactionTotals,
  type PaddleLine,
  type PaddlePeriod,
  PADDLE_IDS,
  paddleLineId,
  paddleEvent,
  type PaddleEvent,
  type PaddleEventOptions,
} from './paddle-event-parts.ts';
import { TEST_START } from '../test-clock.ts';

/** The types of `transaction.*`, without that prefix. */
export type PaddleTransactionType =
  | 'billed'
  | 'canceled'
  | 'completed'
  | 'created'
  | 'paid'
  | 'past_due'
  | 'payment_failed'
  | 'ready'
  | 'revised'
  | 'updated';

export interface PaddleTransactionOptions extends PaddleEventOptions {
  readonly transactionId?: string;
  readonly subscriptionId?: string | null;
  readonly customerId?: string | null;
  /** `web` or `api` for purchases, `subscription_recurring` for renewals, …. Default: `web`. */
  readonly origin?: string;
  readonly period?: PaddlePeriod | null;
  readonly lines?: readonly PaddleLine[];
  readonly customData?: Readonly<Record<string, unknown>> | null;
}

/** A completed payment, such as a purchase or renewal. */
export function paddleTransactionCompleted(options: PaddleTransactionOptions = {}): PaddleEvent {
  return paddleTransaction('completed', options);
}

/** Any `transaction.*`, with one one-time line by default. */
export function paddleTransaction(
  type: PaddleTransactionType,
  options: PaddleTransactionOptions = {},
): PaddleEvent {
  const occurredAt = options.occurredAt ?? TEST_START;
  const id = options.transactionId ?? PADDLE_IDS.transaction;
  const lines = options.lines ?? [{ priceId: PADDLE_IDS.price }];
  const total = sum(lines.map(lineTotal));
  const isOver = type === 'completed' || type === 'paid';
  const data = {
    id,
    status: TRANSACTION_STATUSES[type],
    customer_id: options.customerId === undefined ? PADDLE_IDS.customer : options.customerId,
    address_id: paddleId('add', 'default'),
    business_id: null,
    custom_data: options.customData ?? null,
    currency_code: 'USD',
    origin: options.origin ?? 'web',
    subscription_id: options.subscriptionId ?? null,
    invoice_id: null,
    invoice_number: isOver ? '325-10566' : null,
    collection_mode: 'automatic',
    discount_id: null,
    billing_details: null,
    billing_period: writePeriod(options.period ?? null),
    items: lines.map((line) => ({
      price: writePrice(line),
      quantity: line.quantity ?? 1,
      proration: null,
    })),
    details: {
      tax_rates_used: [{ tax_rate: '0.2', totals: writeTotals(total) }],
      totals: writeTransactionTotals(total),
      adjusted_totals: writeTransactionTotals(total),
      payout_totals: null,
      adjusted_payout_totals: null,
      line_items: lines.map((line, ordinal) => ({
        id: line.lineId ?? paddleLineId(id, ordinal),
        price_id: line.priceId,
        quantity: line.quantity ?? 1,
        proration: null,
        tax_rate: '0.2',
        unit_totals: writeTotals(line.unitAmount ?? UNIT_AMOUNT),
        totals: writeTotals(lineTotal(line)),
        product: writeProduct(line.priceId),
      })),
    },
    payments: isOver ? [writePayment(id, total, occurredAt)] : [],
    checkout: { url: `https://shop.example.com/pay?_ptxn=${id}` },
    created_at: writeTime(new Date(occurredAt.getTime() - 60_000)),
    updated_at: writeTime(occurredAt),
    billed_at: isOver ? writeTime(occurredAt) : null,
    revised_at: type === 'revised' ? writeTime(occurredAt) : null,
  };
  return paddleEvent(`transaction.${type}`, data, options);
}

const TRANSACTION_STATUSES: Readonly<Record<PaddleTransactionType, string>> = {
  billed: 'billed',
  canceled: 'canceled',
  completed: 'completed',
  created: 'draft',
  paid: 'paid',
  past_due: 'past_due',
  payment_failed: 'ready',
  ready: 'ready',
  revised: 'completed',
  updated: 'ready',
};
