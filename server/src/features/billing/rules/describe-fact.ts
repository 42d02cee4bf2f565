import type { PaymentEvent } from '@latchkey/contract';

import type { AdjustmentFact, BillingFact, PaymentFact, SubscriptionFact } from '../facts.ts';

type Effect = PaymentEvent['effects'][number];

/** Describes a fact for operators: the kind, the id, and a short text without personal data. */
export function describeFact(fact: BillingFact): Effect {
  switch (fact.kind) {
    case 'payment':
      return { kind: 'payment', id: fact.transactionId, text: describePayment(fact) };
    case 'subscription':
      return {
        kind: 'subscription',
        id: fact.subscriptionId,
        text: describeSubscription(fact),
      };
    case 'adjustment':
      return { kind: 'adjustment', id: fact.transactionId, text: describeAdjustment(fact) };
    case 'customer':
      return { kind: 'customer', id: fact.customerId, text: 'Details of the customer' };
  }
}

const ORIGINS: Readonly<Record<PaymentFact['origin'], string>> = {
  purchase: 'Purchase',
  renewal: 'Renewal',
  change: 'Charge within a period',
  other: 'Payment without effect on licenses',
};

function describePayment({ origin, subscriptionId, lines }: PaymentFact): string {
  const count = lines.length > 1 ? ` of ${lines.length} items` : '';
  const of = subscriptionId === null ? '' : ` of ${subscriptionId}`;
  return `${ORIGINS[origin]}${count}${of}`;
}

const STATUSES: Readonly<Record<SubscriptionFact['status'], string>> = {
  active: 'Subscription active',
  trialing: 'Subscription in its trial',
  past_due: 'Subscription past due',
  paused: 'Subscription paused',
  canceled: 'Subscription canceled',
};

function describeSubscription({ status, period, scheduledChange }: SubscriptionFact): string {
  const until = period === null ? '' : `, current period until ${toDay(period.endsAt)}`;
  const change =
    scheduledChange === null
      ? ''
      : `, ${scheduledChange.action} scheduled for ${toDay(scheduledChange.effectiveAt)}`;
  return `${STATUSES[status]}${until}${change}`;
}

const EFFECTS: Readonly<Record<AdjustmentFact['effect'], string>> = {
  refund: 'Refund',
  chargeback: 'Chargeback',
  chargeback_reverse: 'Chargeback reversed',
  chargeback_warning: 'Warning of a chargeback',
  chargeback_warning_reverse: 'Warning of a chargeback withdrawn',
  none: 'Adjustment without effect on licenses',
};

function describeAdjustment({ effect, status, full }: AdjustmentFact): string {
  const part = full === false ? ' (partial)' : '';
  return `${EFFECTS[effect]}${part}, ${status}`;
}

function toDay(time: Date): string {
  return time.toISOString().slice(0, 10);
}
