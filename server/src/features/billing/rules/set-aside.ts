import type {
  AdjustmentFact,
  BillingPeriod,
  CustomerDetails,
  PaymentFact,
  SubscriptionFact,
} from '../facts.ts';
import { ATTENTION_PREFIX } from './event-state.ts';
import type { MergedPayment } from './merge-versions.ts';
import { findRefund } from './money-back.ts';

/** A fact that cannot be right: an operator has to look at its event. */
export interface SetAsideFact {
  readonly eventId: string;
  /** A sentence for operators: the cause and the repair. */
  readonly reason: string;
  /** A license may have been created under it before it turned out to be wrong. Absent: another fact. */
  readonly payment?: MergedPayment;
}

/** What is removed from a purchase. */
interface SetAside {
  readonly setAside: readonly SetAsideFact[];
  /** Payments of another currency or customer that were refunded: the refund ends the period that they paid. */
  readonly paidBack: readonly MergedPayment[];
}

type Sourced<Fact> = Fact & { readonly eventId: string };

/** The facts of a purchase, each with its event. */
interface SourcedFacts {
  readonly payments: readonly MergedPayment[];
  readonly snapshots: readonly Sourced<SubscriptionFact>[];
  readonly adjustments: readonly Sourced<AdjustmentFact>[];
}

const CAUSES = {
  negative: `${ATTENTION_PREFIX}the amount is negative. If something was sold, issue it: latchkey webhook issue.`,
  period: `${ATTENTION_PREFIX}the paid period ends before it starts. If it was paid, extend the license, or issue what was sold: latchkey webhook issue.`,
  currency: (own: string, other: string) =>
    `${ATTENTION_PREFIX}it is paid in ${own}, and its purchase in ${other}. If it was paid, extend the license, or issue what was sold: latchkey webhook issue.`,
  customer: `${ATTENTION_PREFIX}it is of another customer than its purchase. Check at the provider who paid, and extend the license if it was paid for it.`,
  reported: `${ATTENTION_PREFIX}the subscription reports a period that ends before it starts, which has no effect. Check the subscription at the provider.`,
  refund: (own: string, other: string) =>
    `${ATTENTION_PREFIX}it refunds in ${own} what was paid in ${other}, which has no effect. Check the refund at the provider, and suspend or revoke the license if all was paid back.`,
  negativeRefund: `${ATTENTION_PREFIX}the refunded amount is negative, which has no effect. Check the refund at the provider.`,
} as const;

/**
 * Removes the facts of a purchase that cannot be right, so that they grant and take away nothing, and reports each of them.
 * The order of the facts makes no difference.
 * @param all payments oldest first
 */
export function setAside(all: SourcedFacts): SourcedFacts & SetAside {
  const found: SetAsideFact[] = [];
  const keep = (
    { eventId }: Sourced<object>,
    reason: string | null,
    of: Pick<SetAsideFact, 'payment'> = {},
  ): boolean => {
    if (reason !== null) found.push({ eventId, reason, ...of });
    return reason === null;
  };
  // What was paid back needs nobody.
  const keepPayment = (payment: MergedPayment, reason: string | null): boolean =>
    reason !== null && findRefund(payment, all.adjustments, null) !== null
      ? false
      : keep(payment, reason, { payment });
  const plausible = all.payments.filter((each) => keepPayment(each, findOwnCause(each)));
  const payments = plausible.filter((each) =>
    keepPayment(each, findForeignCause(each, plausible, all.snapshots)),
  );
  const paidBack = plausible.filter(
    (each) => !payments.includes(each) && findRefund(each, all.adjustments, null) !== null,
  );
  const adjustments = all.adjustments.filter((each) =>
    keep(each, findRefundCause(each, all.payments)),
  );
  const snapshots = all.snapshots.map((each) =>
    keep(each, hasReversedPeriod(each) ? CAUSES.reported : null) ? each : withoutPeriods(each),
  );
  return { payments, snapshots, adjustments, setAside: found, paidBack };
}

function findOwnCause({ origin, total, period, lines }: PaymentFact): string | null {
  if (origin === 'other') return null;
  if (total !== null && total < 0) return CAUSES.negative;
  const periods = [period, ...lines.map((line) => line.period ?? null)];
  // A period of no length pays nothing either.
  return periods.some((each) => each !== null && each.endsAt <= each.startsAt)
    ? CAUSES.period
    : null;
}

/** A subscription keeps its currency; its customer may change, which the subscription reports. */
function findForeignCause(
  payment: MergedPayment,
  payments: readonly MergedPayment[],
  snapshots: readonly SubscriptionFact[],
): string | null {
  // The oldest one, also if only a change is known.
  const first = payments.find(({ origin }) => origin !== 'other');
  if (payment.origin === 'other' || first === undefined || payment === first) return null;
  const { currency } = payment;
  if (currency !== undefined && first.currency !== undefined && currency !== first.currency) {
    return CAUSES.currency(currency, first.currency);
  }
  const isKnown = snapshots.some(({ customerId }) => customerId === payment.customerId);
  return !isKnown && isOtherCustomer(first, payment) ? CAUSES.customer : null;
}

/** The customer of a fact. */
interface CustomerOf {
  readonly customerId: string | null;
  readonly customer: CustomerDetails;
}

/** Whether two facts have different customers: shops may give one person several ids, but not several addresses. */
export function isOtherCustomer(one: CustomerOf, other: CustomerOf): boolean {
  if (one.customerId === null || other.customerId === null) return false;
  if (one.customerId === other.customerId) return false;
  const [email, otherEmail] = [one.customer.email, other.customer.email];
  return email === null || email.toLowerCase() !== otherEmail?.toLowerCase();
}

/** A refund that the provider calls full needs no amount; a dispute suspends whatever its amount is. */
function findRefundCause(
  { effect, full, total, transactionId, currency }: AdjustmentFact,
  payments: readonly PaymentFact[],
): string | null {
  if (effect !== 'refund' || full === true || total === null) return null;
  if (total < 0) return CAUSES.negativeRefund;
  const paid = payments.find((each) => each.transactionId === transactionId)?.currency;
  return currency === undefined || paid === undefined || currency === paid
    ? null
    : CAUSES.refund(currency, paid);
}

function hasReversedPeriod({ period, lines }: SubscriptionFact): boolean {
  return [period, ...lines.map((line) => line.period)].some(isReversed);
}

function isReversed(period: BillingPeriod | null | undefined): boolean {
  return period != null && period.endsAt < period.startsAt;
}

function withoutPeriods(snapshot: Sourced<SubscriptionFact>): Sourced<SubscriptionFact> {
  return {
    ...snapshot,
    period: isReversed(snapshot.period) ? null : snapshot.period,
    lines: snapshot.lines.map((line) =>
      isReversed(line.period) ? { ...line, period: null } : line,
    ),
  };
}
