import type { AdjustmentFact, Occurrence, PaymentFact, SubscriptionFact } from '../../facts.ts';
import { readPeriod, readTime } from '../fields.ts';
import {
  readAmount,
  readCustomData,
  readSubscriptionLines,
  readTransactionLines,
} from './fields.ts';
import { ignored, type Reading } from './reading.ts';
import type { Adjustment, Subscription, Transaction } from './schemas.ts';

/** The end of a pause is charged as `subscription_recurring`, too. */
const ORIGINS: ReadonlyMap<string, PaymentFact['origin']> = new Map([
  ['web', 'purchase'],
  ['api', 'purchase'],
  ['subscription_recurring', 'renewal'],
  ['subscription_update', 'change'],
  ['subscription_charge', 'change'],
]);

/** Money has come in. The period and the subscription may be missing in a first payment, and there is no e-mail in it. */
export function readTransaction(transaction: Transaction, occurrence: Occurrence): Reading {
  const lines = readTransactionLines(transaction);
  if (lines === null) return ignored('The transaction has a billing cycle that is not known.');
  const totals = transaction.details?.totals;
  const fact: PaymentFact = {
    kind: 'payment',
    transactionId: transaction.id,
    subscriptionId: transaction.subscription_id ?? null,
    origin: ORIGINS.get(transaction.origin ?? '') ?? 'other',
    customerId: transaction.customer_id ?? null,
    customer: readCustomData(transaction.custom_data),
    ...occurrence,
    period: readPeriod(transaction.billing_period),
    lines,
    // What was paid once credit had been taken off.
    total: readAmount(totals?.grand_total) ?? readAmount(totals?.total),
  };
  return { fact };
}

const SUBSCRIPTION_STATUSES = ['active', 'trialing', 'past_due', 'paused', 'canceled'] as const;
const ACTIONS = ['cancel', 'pause', 'resume'] as const;

/** How a subscription is: every event of one holds all of it. */
export function readSubscription(subscription: Subscription, occurrence: Occurrence): Reading {
  const status = SUBSCRIPTION_STATUSES.find((known) => known === subscription.status);
  if (status === undefined) return ignored('The subscription has a status that is not known.');
  const lines = readSubscriptionLines(subscription);
  if (lines === null) return ignored('The subscription has a billing cycle that is not known.');
  const fact: SubscriptionFact = {
    kind: 'subscription',
    subscriptionId: subscription.id,
    transactionId: subscription.transaction_id ?? null,
    customerId: subscription.customer_id ?? null,
    customer: readCustomData(subscription.custom_data),
    ...occurrence,
    status,
    period: readPeriod(subscription.current_billing_period),
    pausedAt: readTime(subscription.paused_at),
    canceledAt: readTime(subscription.canceled_at),
    scheduledChange: readScheduledChange(subscription.scheduled_change),
    lines,
  };
  return { fact };
}

function readScheduledChange(
  change: Subscription['scheduled_change'],
): SubscriptionFact['scheduledChange'] {
  const action = ACTIONS.find((known) => known === change?.action);
  const effectiveAt = readTime(change?.effective_at);
  return action === undefined || effectiveAt === null ? null : { action, effectiveAt };
}

const EFFECTS: ReadonlyMap<string, AdjustmentFact['effect']> = new Map([
  ['refund', 'refund'],
  ['chargeback', 'chargeback'],
  ['chargeback_warning', 'chargeback_warning'],
  ['chargeback_reverse', 'chargeback_reverse'],
  ['chargeback_warning_reverse', 'chargeback_warning_reverse'],
  ['credit', 'none'],
  ['credit_reverse', 'none'],
]);

const ADJUSTMENT_STATUSES: ReadonlyMap<string, AdjustmentFact['status']> = new Map([
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
  const status = ADJUSTMENT_STATUSES.get(adjustment.status);
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
