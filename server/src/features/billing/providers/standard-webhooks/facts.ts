import {
  ADJUSTMENT_STATUSES,
  INTERVALS,
  SCHEDULED_ACTIONS,
  SUBSCRIPTION_STATUSES,
  type BillingLine,
  type CustomerDetails,
  type PaymentFact,
  type SubscriptionFact,
} from '../../facts.ts';
import { ATTENTION_PREFIX } from '../../rules/event-state.ts';
import { defineDataReader } from '../adapter.ts';
import { readOrderOptions } from '../custom-data.ts';
import {
  readCountry,
  readCurrency,
  readEmail,
  readPeriod,
  readTax,
  readText,
  readTime,
} from '../fields.ts';
import {
  type Customer,
  CustomerChange,
  Dispute,
  type Line,
  Payment,
  Refund,
  Subscription,
} from './schemas.ts';

/** The reason to ignore an event with a value that this version does not know. */
function describeUnknown(field: string, known: readonly string[]): string {
  return `${ATTENTION_PREFIX}the ${field} is not one of ${known.join(', ')}. Send the event again with one of them.`;
}

/** The origins of payments by the type of their event. */
const ORIGINS: ReadonlyMap<string, PaymentFact['origin']> = new Map([
  ['purchase.completed', 'purchase'],
  ['purchase.renewed', 'renewal'],
  ['purchase.changed', 'change'],
]);

export const readPayment = defineDataReader(Payment, (data, { occurrence, type }) => {
  const lines = readLines(data.lines);
  if (lines === null) return describeUnknown('interval', INTERVALS);
  return [
    {
      kind: 'payment',
      transactionId: data.transaction_id,
      subscriptionId: data.subscription_id ?? null,
      origin: ORIGINS.get(type) ?? 'other',
      customerId: data.customer?.id ?? null,
      customer: readCustomer(data.customer),
      ...occurrence,
      period: readPeriod(data.period),
      lines,
      ...readOrderOptions(data.custom_data),
      total: data.total ?? null,
      ...readMoney(data),
      ...readCountry(data.country),
      ...(data.fee == null ? {} : { fee: data.fee }),
    },
  ];
});

export const readSubscription = defineDataReader(Subscription, (data, { occurrence }) => {
  const status = SUBSCRIPTION_STATUSES.find((known) => known === data.status);
  if (status === undefined) return describeUnknown('status', SUBSCRIPTION_STATUSES);
  const lines = readLines(data.lines);
  if (lines === null) return describeUnknown('interval', INTERVALS);
  const scheduledChange = readScheduledChange(data);
  if (scheduledChange === undefined)
    return describeUnknown('scheduled_change.action', SCHEDULED_ACTIONS);
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
      ...readOrderOptions(data.custom_data),
    },
  ];
});

export const readRefund = defineDataReader(Refund, (data, { occurrence }) => {
  const status = ADJUSTMENT_STATUSES.find((known) => known === (data.status ?? 'approved'));
  if (status === undefined) return describeUnknown('status', ADJUSTMENT_STATUSES);
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
      ...readMoney(data),
      lines: (data.lines ?? []).map(({ id, full, total }) => ({
        lineId: id,
        full: full ?? null,
        total: total ?? null,
      })),
    },
  ];
});

/** A won dispute is reversed under its own id, so that it does not cancel another dispute. */
export const readDispute = defineDataReader(Dispute, (data, { occurrence, type }) => {
  return [
    {
      kind: 'adjustment',
      adjustmentId: data.dispute_id,
      transactionId: data.transaction_id,
      ...occurrence,
      effect: 'chargeback',
      status: type === 'payment.dispute_won' ? 'reversed' : 'approved',
      full: null,
      total: data.total ?? null,
      ...readMoney(data),
      lines: [],
    },
  ];
});

export const readCustomerChange = defineDataReader(CustomerChange, (data, { occurrence }) => {
  return [{ kind: 'customer', customerId: data.id, ...occurrence, customer: readCustomer(data) }];
});

function readMoney({
  currency,
  tax,
  total,
}: Pick<Payment, 'currency' | 'tax' | 'total'>): Pick<PaymentFact, 'currency' | 'tax'> {
  return { ...readCurrency(currency), ...readTax(tax ?? null, total ?? null) };
}

function readCustomer(customer: Customer | null | undefined): CustomerDetails {
  return {
    email: readEmail(customer?.email),
    name: readText(customer?.name),
    locale: readText(customer?.locale, 35),
  };
}

/** Returns undefined for an unknown action. */
function readScheduledChange({
  scheduled_change: change,
}: Subscription): SubscriptionFact['scheduledChange'] | undefined {
  const effectiveAt = readTime(change?.effective_at);
  if (change == null || effectiveAt === null) return null;
  const action = SCHEDULED_ACTIONS.find((known) => known === change.action);
  return action && { action, effectiveAt };
}

/** Returns null for an unknown interval. */
function readLines(lines: readonly Line[] | null | undefined): BillingLine[] | null {
  const read: BillingLine[] = [];
  for (const { id, price_id: priceId, quantity, cycle, total } of lines ?? []) {
    const interval = INTERVALS.find((known) => known === cycle?.interval);
    if (cycle != null && interval === undefined) return null;
    read.push({
      lineId: id ?? priceId,
      priceId,
      quantity: quantity ?? 1,
      cycle: interval === undefined ? null : { interval, frequency: cycle?.frequency ?? 1 },
      total: total ?? null,
    });
  }
  return read;
}
