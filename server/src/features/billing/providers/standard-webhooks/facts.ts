import type { Occurrence, PaymentFact, SubscriptionFact } from '../../facts.ts';
import { readPeriod, readTime } from '../times.ts';
import type { Reading } from '../reading.ts';
import { UnknownValue, readCustomer, readKnown, readLines } from './fields.ts';
import type { CustomerChange, Dispute, Payment, Refund, Subscription } from './schemas.ts';

const STATUSES = ['active', 'trialing', 'past_due', 'paused', 'canceled'] as const;
const ACTIONS = ['cancel', 'pause', 'resume'] as const;
const REFUND_STATUSES = ['pending', 'approved', 'rejected', 'reversed'] as const;

/** Reads a payment. */
export function readPayment(
  data: Payment,
  origin: PaymentFact['origin'],
  occurrence: Occurrence,
): Reading {
  const lines = readLines(data.lines);
  if (lines instanceof UnknownValue) return lines.sentence;
  return [
    {
      kind: 'payment',
      transactionId: data.transaction_id,
      subscriptionId: data.subscription_id ?? null,
      origin,
      customerId: data.customer?.id ?? null,
      customer: readCustomer(data.customer),
      ...occurrence,
      period: readPeriod(data.period),
      lines,
      total: data.total ?? null,
    },
  ];
}

/** Reads how a subscription is. */
export function readSubscription(data: Subscription, occurrence: Occurrence): Reading {
  const status = readKnown(data.status, STATUSES, 'status');
  if (status instanceof UnknownValue) return status.sentence;
  const lines = readLines(data.lines);
  if (lines instanceof UnknownValue) return lines.sentence;
  const scheduledChange = readScheduledChange(data);
  if (scheduledChange instanceof UnknownValue) return scheduledChange.sentence;
  const isRunning = status !== 'paused' && status !== 'canceled';
  return [
    {
      kind: 'subscription',
      subscriptionId: data.subscription_id,
      transactionId: data.transaction_id ?? null,
      customerId: data.customer?.id ?? null,
      customer: readCustomer(data.customer),
      ...occurrence,
      status,
      period: isRunning ? readPeriod(data.period) : null,
      pausedAt: status === 'paused' ? readTime(data.paused_at) : null,
      canceledAt: status === 'canceled' ? readTime(data.canceled_at) : null,
      scheduledChange,
      lines,
    },
  ];
}

/** Reads money that goes back. */
export function readRefund(data: Refund, occurrence: Occurrence): Reading {
  const status = readKnown(data.status ?? 'approved', REFUND_STATUSES, 'status');
  if (status instanceof UnknownValue) return status.sentence;
  return [
    {
      kind: 'adjustment',
      adjustmentId: data.refund_id,
      transactionId: data.transaction_id,
      ...occurrence,
      effect: 'refund',
      status,
      full: data.full ?? null,
      total: data.total ?? null,
      lines: (data.lines ?? []).map(({ id, full, total }) => ({
        lineId: id,
        full: full ?? null,
        total: total ?? null,
      })),
    },
  ];
}

/** Reads a payment that is fought over, or that the seller has got back. */
export function readDispute(data: Dispute, isWon: boolean, occurrence: Occurrence): Reading {
  return [
    {
      kind: 'adjustment',
      adjustmentId: data.dispute_id,
      transactionId: data.transaction_id,
      ...occurrence,
      effect: 'chargeback',
      // A dispute that was won takes back its own word, so that it never speaks for another one.
      status: isWon ? 'reversed' : 'approved',
      full: null,
      total: data.total ?? null,
      lines: [],
    },
  ];
}

/** Reads what is known of a customer now. */
export function readCustomerChange(data: CustomerChange, occurrence: Occurrence): Reading {
  return [{ kind: 'customer', customerId: data.id, ...occurrence, customer: readCustomer(data) }];
}

function readScheduledChange({
  scheduled_change: change,
}: Subscription): SubscriptionFact['scheduledChange'] | UnknownValue {
  const effectiveAt = readTime(change?.effective_at);
  if (change == null || effectiveAt === null) return null;
  const action = readKnown(change.action, ACTIONS, 'scheduled_change.action');
  return action instanceof UnknownValue ? action : { action, effectiveAt };
}
