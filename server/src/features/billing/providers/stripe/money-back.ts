import type { AdjustmentFact } from '../../facts.ts';
import { readInteger, readList, readObject, readReference } from '../fields.ts';
import type { Reading } from '../adapter.ts';
import { requireId, type StripeEvent } from './envelope.ts';

const NOT_MATCHED = 'It names neither a payment nor a charge.';

/**
 * Reads a refund. One that failed after all also takes back the word of a charge that it was refunded as a whole.
 */
export function readRefund(event: StripeEvent): Reading {
  const refund = event.object;
  const chargeId = readReference(refund['charge']);
  const transactionId = readReference(refund['payment_intent']) ?? chargeId;
  if (transactionId === null) return NOT_MATCHED;
  const common = { transactionId, occurredAt: event.createdAt };
  const fact = toRefund(
    common,
    requireId(event, 'id'),
    refund['status'],
    readInteger(refund['amount']),
  );
  if (fact.status !== 'rejected' || chargeId === null) return [fact];
  return [fact, { ...toWholeRefund(common, chargeId), ...rankRefund(common, 'rejected') }];
}

/**
 * Reads a charge from which something was given back. Each refund is told by an event of its own, and by the charge too
 * where the API version lists them; that all went back is said by the charge alone, whatever the refunds' amounts are known.
 */
export function readRefundedCharge(event: StripeEvent): Reading {
  const charge = event.object;
  const chargeId = requireId(event, 'id');
  const transactionId = readReference(charge['payment_intent']) ?? chargeId;
  const common = { transactionId, occurredAt: event.createdAt };
  const refunds = readList(readObject(charge['refunds'])['data'])
    .map(readObject)
    .flatMap((refund) => {
      const id = readReference(refund);
      if (id === null) return [];
      return toRefund(common, id, refund['status'], readInteger(refund['amount']));
    });
  const facts =
    charge['refunded'] === true ? [...refunds, toWholeRefund(common, chargeId)] : refunds;
  return facts.length > 0 ? facts : 'A part of the charge: refund.created tells how much.';
}

/**
 * Reads a dispute, of which each event is a snapshot. An inquiry before a dispute moves no money and suspends nobody. A
 * dispute that was won takes back its own word, so that it never speaks for another one.
 */
export function readDispute(event: StripeEvent): Reading {
  const dispute = event.object;
  const transactionId =
    readReference(dispute['payment_intent']) ?? readReference(dispute['charge']);
  if (transactionId === null) return NOT_MATCHED;
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
      lines: [],
    },
  ];
}

const LAST_WORDS = new Set(['charge.dispute.closed', 'charge.dispute.funds_reinstated']);

/** Stripe's clock has whole seconds: what ends a dispute comes after what else it said within one. */
function orderWithinSecond({ type, createdAt }: StripeEvent): Date {
  return LAST_WORDS.has(type) ? new Date(createdAt.getTime() + 1) : createdAt;
}

type Common = Pick<AdjustmentFact, 'transactionId' | 'occurredAt'>;

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
    lines: [],
  };
}

/**
 * Stripe's clock has whole seconds: within one, a refund is first under way, then done, and may fail even then. In
 * milliseconds, of which one that is done has none, for its moment is shown.
 */
const RANKS = { pending: -1, approved: 0, rejected: 1 } as const;

function rankRefund(
  { transactionId, occurredAt }: Common,
  status: keyof typeof RANKS,
): Common & Pick<AdjustmentFact, 'status'> {
  return { transactionId, occurredAt: new Date(occurredAt.getTime() + RANKS[status]), status };
}

/** Without an amount, so that the single refunds are not counted twice. */
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
