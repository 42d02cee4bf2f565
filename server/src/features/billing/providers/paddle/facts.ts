import {
  LINKING_PAYMENT,
  SCHEDULED_ACTIONS,
  SUBSCRIPTION_STATUSES,
  type AdjustmentFact,
  type PaymentFact,
  type SubscriptionFact,
} from '../../facts.ts';
import { describeUnknownValue } from '../../rules/event-state.ts';
import { defineDataReader } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import { readCountry, readCurrency, readPeriod, readTax, readTime, readWord } from '../fields.ts';
import {
  readAmount,
  readCustomData,
  readCustomerDetails,
  readSubscriptionLines,
  readTransactionLines,
} from './fields.ts';
import { Adjustment, Customer, Subscription, Transaction, type Totals } from './schemas.ts';

/** Includes the end of a pause, which is `subscription_recurring` too. */
const ORIGINS: ReadonlyMap<string, PaymentFact['origin']> = new Map([
  ['web', 'purchase'],
  ['api', 'purchase'],
  ['subscription_recurring', 'renewal'],
  ['subscription_update', 'change'],
  ['subscription_charge', 'change'],
]);

/** Interprets a completed transaction. A first payment may lack the period and the subscription; none has an e-mail address. */
export const readTransaction = defineDataReader(Transaction, (transaction, { occurrence }) => {
  const lines = readTransactionLines(transaction);
  if (lines === null) return describeUnknownValue('the transaction has an unknown billing cycle');
  const totals = transaction.details?.totals;
  return [
    {
      kind: 'payment',
      transactionId: transaction.id,
      subscriptionId: transaction.subscription_id ?? null,
      origin: ORIGINS.get(transaction.origin ?? '') ?? 'other',
      customerId: transaction.customer_id ?? null,
      customer: readCustomData(transaction.custom_data),
      ...readOrderOptions(transaction.custom_data),
      ...occurrence,
      period: readPeriod(transaction.billing_period),
      lines,
      ...readTotals(totals),
      ...readCurrency(transaction.currency_code),
      ...readCountry(transaction.address?.country_code),
      ...readWord(transaction.origin),
    },
  ];
});

/** Reads the amount paid, after credit, and what it contains. */
function readTotals(totals: Totals | undefined): Pick<PaymentFact, 'total' | 'tax' | 'fee'> {
  const billed = readAmount(totals?.total);
  const total = readAmount(totals?.grand_total) ?? billed;
  const fee = readAmount(totals?.fee);
  return {
    total,
    ...readTax(readAmount(totals?.tax), total, billed ?? total),
    ...(fee === null ? {} : { fee }),
  };
}

/** Interprets a subscription: each of its events is a full snapshot. */
export const readSubscription = defineDataReader(Subscription, (subscription, event) => {
  const { occurrence, type } = event;
  const status = SUBSCRIPTION_STATUSES.find((known) => known === subscription.status);
  if (status === undefined) return describeUnknownValue('the subscription has an unknown status');
  const lines = readSubscriptionLines(subscription);
  if (lines === null) return describeUnknownValue('the subscription has an unknown billing cycle');
  // A subscription from elsewhere has no checkout: its own id names the purchase.
  const isImported = type === 'subscription.imported' && subscription.transaction_id == null;
  const named = isImported ? subscription.id : null;
  return [
    ...(isImported
      ? [
          {
            ...LINKING_PAYMENT,
            transactionId: subscription.id,
            subscriptionId: subscription.id,
            ...occurrence,
          },
        ]
      : []),
    {
      kind: 'subscription',
      subscriptionId: subscription.id,
      transactionId: subscription.transaction_id ?? named,
      customerId: subscription.customer_id ?? null,
      customer: readCustomData(subscription.custom_data),
      ...readOrderOptions(subscription.custom_data),
      ...occurrence,
      status,
      period: readPeriod(subscription.current_billing_period),
      pausedAt: readTime(subscription.paused_at),
      canceledAt: readTime(subscription.canceled_at),
      scheduledChange: readScheduledChange(subscription.scheduled_change),
      lines,
      ...readWord(subscription.status),
    },
  ];
});

function readScheduledChange(
  change: Subscription['scheduled_change'],
): SubscriptionFact['scheduledChange'] {
  const action = SCHEDULED_ACTIONS.find((known) => known === change?.action);
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

/** Types other than `full`; older events have no type. */
const PARTIAL_TYPES: ReadonlySet<string> = new Set(['partial', 'tax', 'proration']);

/** Interprets a refund, credit or chargeback. */
export const readAdjustment = defineDataReader(Adjustment, (adjustment, { occurrence }) => {
  const effect = EFFECTS.get(adjustment.action);
  if (effect === undefined) return describeUnknownValue('the adjustment has an unknown action');
  const status = ADJUSTMENT_STATUSES.get(adjustment.status);
  if (status === undefined) return describeUnknownValue('the adjustment has an unknown status');
  return [
    {
      kind: 'adjustment',
      adjustmentId: adjustment.id,
      transactionId: adjustment.transaction_id,
      ...occurrence,
      effect,
      status,
      full: isFull(adjustment.type),
      total: readAmount(adjustment.totals?.total),
      ...readCurrency(adjustment.currency_code),
      ...readTax(readAmount(adjustment.totals?.tax), readAmount(adjustment.totals?.total)),
      ...readWord(adjustment.action),
      lines: (adjustment.items ?? []).map((item) => ({
        lineId: item.item_id,
        full: isFull(item.type),
        total: readAmount(item.totals?.total) ?? readAmount(item.amount),
      })),
    },
  ];
});

function isFull(type: string | null | undefined): boolean | null {
  if (type === 'full') return true;
  return PARTIAL_TYPES.has(type ?? '') ? false : null;
}

export const readCustomer = defineDataReader(Customer, (customer, { occurrence }) => [
  {
    kind: 'customer',
    customerId: customer.id,
    ...occurrence,
    customer: readCustomerDetails(customer),
  },
]);
