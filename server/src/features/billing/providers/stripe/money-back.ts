import type { AdjustmentFact } from '../../facts.ts';
import { readCurrency, readInteger, readObjects, readReference, readWord } from '../fields.ts';
import { requireId, type Interpretation, type ProviderEvent } from '../adapter.ts';

const NO_PAYMENT = 'The payment intent and the charge are missing.';

/** Reads a refund. One that failed afterwards also revokes the full refund that the charge reported. */
export function readRefund(event: ProviderEvent): Interpretation {
  const refund = event.data;
  const chargeId = readReference(refund['charge']);
  const transactionId = readReference(refund['payment_intent']) ?? chargeId;
  if (transactionId === null) return NO_PAYMENT;
  const common = {
    transactionId,
    occurredAt: event.occurredAt,
    ...readCurrency(refund['currency']),
  };
  const amount = readInteger(refund['amount']);
  const fact = toRefund(common, requireId(event, 'id'), refund['status'], amount);
  if (fact.status !== 'rejected' || chargeId === null) return [fact];
  return [fact, { ...toWholeRefund(common, chargeId), ...rankRefund(common, 'rejected') }];
}

/**
 * Reads a refunded charge. Each refund has its own event, and is listed in the charge by some API versions; that the charge
 * is refunded in full is reported by the charge alone, even if not all amounts are known.
 */
export function readRefundedCharge(event: ProviderEvent): Interpretation {
  const charge = event.data;
  const chargeId = requireId(event, 'id');
  const transactionId = readReference(charge['payment_intent']) ?? chargeId;
  const common = {
    transactionId,
    occurredAt: event.occurredAt,
    ...readCurrency(charge['currency']),
  };
  const refunds = readObjects(charge['refunds']).flatMap((refund) => {
    const id = readReference(refund);
    if (id === null) return [];
    return toRefund(common, id, refund['status'], readInteger(refund['amount']));
  });
  const facts =
    charge['refunded'] === true ? [...refunds, toWholeRefund(common, chargeId)] : refunds;
  return facts.length > 0
    ? facts
    : 'A partial refund of the charge: refund.created contains the amount.';
}

/**
 * Reads a snapshot of a dispute. An inquiry before a dispute moves no money and has no effect. A won dispute is reversed
 * under its own id, so that it does not cancel another dispute.
 */
export function readDispute(event: ProviderEvent): Interpretation {
  const dispute = event.data;
  const transactionId =
    readReference(dispute['payment_intent']) ?? readReference(dispute['charge']);
  if (transactionId === null) return NO_PAYMENT;
  const status = dispute['status'];
  const isInquiry = typeof status === 'string' && status.startsWith('warning_');
  const isOver = status === 'won' || status === 'prevented';
  return [
    {
      kind: 'adjustment',
      adjustmentId: requireId(event, 'id'),
      transactionId,
      occurredAt: orderWithinSecond(event),
      effect: isInquiry ? 'none' : 'chargeback',
      status: isOver ? 'reversed' : 'approved',
      full: null,
      total: readInteger(dispute['amount']),
      ...readCurrency(dispute['currency']),
      ...readWord(status),
      lines: [],
    },
  ];
}

const CLOSING_TYPES = new Set(['charge.dispute.closed', 'charge.dispute.funds_reinstated']);

/** Orders events within a second, since Stripe's times are in whole seconds: the end of a dispute is last. */
function orderWithinSecond({ type, occurredAt }: ProviderEvent): Date {
  return CLOSING_TYPES.has(type) ? new Date(occurredAt.getTime() + 1) : occurredAt;
}

type Common = Pick<AdjustmentFact, 'transactionId' | 'occurredAt' | 'currency'>;

function toRefund(
  common: Common,
  adjustmentId: string,
  status: unknown,
  total: number | null,
): AdjustmentFact {
  return {
    kind: 'adjustment',
    adjustmentId,
    ...rankRefund(common, readStatus(status)),
    effect: 'refund',
    full: null,
    total,
    ...readWord(status),
    lines: [],
  };
}

/**
 * Orders the states of a refund within a second, since Stripe's times are in whole seconds: it is pending, then approved,
 * and may still be rejected. In milliseconds; 0 for `approved`, whose time is displayed.
 */
const RANKS = { pending: -1, approved: 0, rejected: 1 } as const;

function rankRefund(
  { occurredAt, ...common }: Common,
  status: keyof typeof RANKS,
): Common & Pick<AdjustmentFact, 'status'> {
  return { ...common, occurredAt: new Date(occurredAt.getTime() + RANKS[status]), status };
}

/** Has no amount, so that the single refunds are not counted twice. */
function toWholeRefund(common: Common, chargeId: string): AdjustmentFact {
  return { ...toRefund(common, chargeId, 'succeeded', null), full: true };
}

function readStatus(status: unknown): keyof typeof RANKS {
  switch (status) {
    case 'succeeded':
      return 'approved';
    case 'failed':
    case 'canceled':
      return 'rejected';
    default:
      return 'pending';
  }
}
