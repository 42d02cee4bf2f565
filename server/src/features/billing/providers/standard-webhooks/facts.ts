import type {
  BillingCycle,
  BillingLine,
  CustomerDetails,
  Occurrence,
  PaymentFact,
  SubscriptionFact,
} from '../../facts.ts';
import type { Reading } from '../adapter.ts';
import { readEmail, readPeriod, readText, readTime } from '../fields.ts';
import type {
  Customer,
  CustomerChange,
  Cycle,
  Dispute,
  Line,
  Payment,
  Refund,
  Subscription,
} from './schemas.ts';

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

/** A value that is well formed and that this version does not know. */
class UnknownValue {
  readonly sentence: string;

  constructor(field: string, known: readonly string[]) {
    this.sentence = `The ${field} is not one of ${known.join(', ')}.`;
  }
}

const INTERVALS = ['day', 'week', 'month', 'year'] as const;

/** Reads who buys; an empty text says nothing. */
function readCustomer(customer: Customer | null | undefined): CustomerDetails {
  return {
    email: readEmail(customer?.email),
    name: readText(customer?.name),
    locale: readText(customer?.locale, 35),
  };
}

/** Reads the positions, or says that one of them is paid in a rhythm that is not known. */
function readLines(lines: readonly Line[] | null | undefined): BillingLine[] | UnknownValue {
  const read: BillingLine[] = [];
  for (const line of lines ?? []) {
    const cycle = line.cycle == null ? null : readCycle(line.cycle);
    if (cycle instanceof UnknownValue) return cycle;
    read.push({
      lineId: line.id ?? line.price_id,
      priceId: line.price_id,
      quantity: line.quantity ?? 1,
      cycle,
      total: line.total ?? null,
    });
  }
  return read;
}

/** Finds a value in the list of those that are known. */
function readKnown<Known extends string>(
  value: string,
  known: readonly Known[],
  field: string,
): Known | UnknownValue {
  return known.find((each) => each === value) ?? new UnknownValue(field, known);
}

function readCycle(cycle: Cycle): BillingCycle | UnknownValue {
  const interval = readKnown(cycle.interval, INTERVALS, 'interval');
  if (interval instanceof UnknownValue) return interval;
  return { interval, frequency: cycle.frequency ?? 1 };
}
