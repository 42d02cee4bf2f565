import type { PaymentFact } from '../../facts.ts';
import { readId, readInteger } from '../json-fields.ts';
import { readOccurrence } from '../times.ts';
import type { Reading } from '../reading.ts';
import { nameObject, readBuyer, requireAttribute, type LemonSqueezyEvent } from './envelope.ts';
import { readRefunded } from './order.ts';

/** Reads a payment of a subscription. The first one is that of the order, which has an event of its own. */
export function readInvoice(event: LemonSqueezyEvent): Reading {
  const { attributes, objectId, occurrence } = event;
  return [
    {
      kind: 'payment',
      transactionId: nameObject('invoice', objectId),
      subscriptionId: requireAttribute(event, 'subscription_id'),
      origin: readOrigin(attributes['billing_reason']),
      customerId: readId(attributes['customer_id']),
      customer: readBuyer(attributes),
      ...(readOccurrence(attributes['created_at']) ?? occurrence),
      period: null,
      lines: [],
      total: readInteger(attributes['total']),
    },
  ];
}

/** Reads how much of a subscription's payment was given back until now. */
export function readRefundedInvoice(event: LemonSqueezyEvent): Reading {
  const { attributes, objectId, occurrence } = event;
  const transactionId = nameObject('invoice', objectId);
  return [
    {
      kind: 'adjustment',
      adjustmentId: transactionId,
      transactionId,
      ...occurrence,
      effect: 'refund',
      status: 'approved',
      ...readRefunded(attributes),
      lines: [],
    },
  ];
}

function readOrigin(reason: unknown): PaymentFact['origin'] {
  switch (reason) {
    case 'renewal':
      return 'renewal';
    case 'updated':
      return 'change';
    default:
      return 'other';
  }
}
