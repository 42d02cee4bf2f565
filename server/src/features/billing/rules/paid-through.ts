import { providerOf } from '@latchkey/contract';

import {
  compareOccurrences,
  type BillingLine,
  type BillingPeriod,
  type Occurrence,
  type PaymentFact,
  type SubscriptionFact,
} from '../facts.ts';
import { addCycle } from './billing-cycle.ts';
import type { PurchaseFacts } from './group-purchases.ts';
import { findRefund } from './money-back.ts';
import type { TrackedLine } from './track-lines.ts';

const DAY_MS = 86_400_000;

/** Providers report one end with some hours of difference in a payment and in its subscription. */
const TOLERANCE_MS = DAY_MS;

/** The months of a calendar differ by three days. */
const MONTH_TOLERANCE_MS = 4 * DAY_MS;

/** How long the line of a subscription may be used. */
export interface PaidTime {
  readonly endsAt: Date;
  /** Whether any of it was paid, or is reported as paid: a trial that nobody paid has no grace period. */
  readonly hasGrace: boolean;
  /** When the refund of the newest period took effect; null if paid time was left then. */
  readonly refundedAt: Date | null;
}

/** A payment and the part of it that pays a line; null: the payment names no lines and pays all of them. */
export interface LinePayment {
  readonly payment: PaymentFact;
  readonly line: BillingLine | null;
}

/** A period that a payment covers which names no line of it. */
export interface OtherPeriod extends BillingPeriod {
  readonly paidAt: Occurrence;
  readonly transactionId: string;
  readonly refundedAt: Date | null;
}

/** A period of a line that a payment covers. */
interface PaidPeriod extends OtherPeriod {
  readonly lineId: string | null;
  readonly priceId: string | null;
  /** False if the payment was of nothing, or the period is known from the subscription only. */
  readonly hasAmount: boolean;
}

/**
 * Computes how long a line may be used: until the end that the provider reports for an active or trialing subscription, later
 * or earlier than before; otherwise until the end of the last period that was paid and not paid back. A period ends early
 * where a credit replaces it, or where an active subscription is reported to end earlier.
 * @param payments that pay the line, oldest first
 * @param paidElsewhereUntil the end of a license from elsewhere, whose payments are unknown here; null: there is none
 * @param issued what operators say that payments pay; those that pay the line count as they are
 */
export function computePaidTime(
  facts: PurchaseFacts,
  tracked: TrackedLine,
  payments: readonly LinePayment[],
  paidElsewhereUntil: Date | null = null,
  issued: readonly OtherPeriod[] = [],
): PaidTime | null {
  const ends = listReportedEnds(facts.snapshots, tracked);
  const known = [
    ...listPeriods(facts, tracked, payments, ends),
    ...(paidElsewhereUntil === null ? [] : [toEarlierPeriod(paidElsewhereUntil)]),
    ...issued.filter((each) => !payments.some((paid) => isOfPayment(paid, each))).map(toPaid),
  ];
  const periods = shorten(known, facts, tracked, ends);
  const kept = periods.filter(({ refundedAt }) => refundedAt === null);
  const refunded = periods.filter(({ refundedAt }) => refundedAt !== null);
  const endsAt = findEnd(facts, ends, kept, refunded);
  const taken = findLatest(refunded);
  const hasGrace =
    kept.some(({ hasAmount }) => hasAmount) || ends.some(({ status }) => status === 'active');
  if (taken?.refundedAt == null || (endsAt !== null && !isLater(taken.endsAt, endsAt))) {
    return endsAt === null ? null : { endsAt, hasGrace, refundedAt: null };
  }
  if (endsAt !== null && taken.refundedAt < endsAt) return { endsAt, hasGrace, refundedAt: null };
  return { endsAt: taken.endsAt, hasGrace, refundedAt: taken.refundedAt };
}

/** The end of a line's period as an active or trialing subscription reports it. */
interface ReportedEnd {
  readonly snapshot: SubscriptionFact;
  readonly status: SubscriptionFact['status'];
  readonly period: BillingPeriod;
}

function listReportedEnds(
  snapshots: readonly SubscriptionFact[],
  tracked: TrackedLine,
): ReportedEnd[] {
  return snapshots.flatMap((snapshot) => {
    const { status } = snapshot;
    const period = findPeriod(snapshot, tracked);
    if (period === null || !(status === 'active' || status === 'trialing')) return [];
    return isValid(period) ? [{ snapshot, status, period }] : [];
  });
}

function findPeriod(snapshot: SubscriptionFact, tracked: TrackedLine): BillingPeriod | null {
  const line = snapshot.lines.find((each) => isOfLine(tracked, each));
  if (line === undefined && snapshot.lines.length > 0) return null;
  return line?.period ?? snapshot.period;
}

function isOfLine(
  { history }: TrackedLine,
  { lineId, priceId }: Pick<BillingLine, 'lineId' | 'priceId'>,
): boolean {
  return history.some((each) => each.lineId === lineId || each.priceId === priceId);
}

function isValid({ startsAt, endsAt }: BillingPeriod): boolean {
  return endsAt > startsAt;
}

function listPeriods(
  facts: PurchaseFacts,
  tracked: TrackedLine,
  payments: readonly LinePayment[],
  ends: readonly ReportedEnd[],
): PaidPeriod[] {
  const paid = payments
    .filter(({ payment }) => payment.origin !== 'other' && !isReportedPeriod(facts, payment))
    .flatMap((each) => toPaidPeriod(facts, tracked, each, ends) ?? []);
  const charged = facts.payments.flatMap((payment) => listCharges(facts, tracked, payment));
  const reported = facts.payments
    .filter((payment) => isReportedPeriod(facts, payment))
    .flatMap((payment) => toReportedPeriod(payment, paid) ?? []);
  const all = [...paid, ...charged, ...reported];
  if (all.length > 0) return all;
  // Nothing was paid here: the first report of an active subscription counts as paid.
  return ends.slice(0, 1).map(({ snapshot, status, period }) => ({
    ...period,
    paidAt: snapshot,
    transactionId: snapshot.subscriptionId,
    lineId: null,
    priceId: null,
    refundedAt: null,
    hasAmount: status === 'active',
  }));
}

function isOfPayment({ payment }: LinePayment, { transactionId }: OtherPeriod): boolean {
  return payment.transactionId === transactionId && payment.origin !== 'other';
}

function toPaid(period: OtherPeriod): PaidPeriod {
  return { ...period, lineId: null, priceId: null, hasAmount: true };
}

/** Ends where an import says so, or where an active subscription ends earlier. */
function toEarlierPeriod(endsAt: Date): PaidPeriod {
  const startsAt = new Date(0);
  const paidAt = { occurredAt: startsAt };
  return toPaid({ startsAt, endsAt, paidAt, transactionId: '', refundedAt: null });
}

/** Lemon Squeezy's invoices have no period: its subscriptions report one, as a payment without amount. */
export function isReportedPeriod({ provider }: PurchaseFacts, payment: PaymentFact): boolean {
  return (
    providerOf(provider) === 'lemonsqueezy' && payment.transactionId.startsWith('subscription:')
  );
}

function toPaidPeriod(
  { adjustments }: PurchaseFacts,
  tracked: TrackedLine,
  { payment, line }: LinePayment,
  ends: readonly ReportedEnd[],
): PaidPeriod | null {
  const own = line?.period ?? payment.period;
  const period = own ?? inferPeriod(payment, tracked, ends);
  if (period === null || !isValid(period)) return null;
  return {
    ...period,
    paidAt: payment,
    transactionId: payment.transactionId,
    lineId: line?.lineId ?? null,
    priceId: line?.priceId ?? null,
    refundedAt: findRefund(payment, adjustments, line?.lineId ?? null),
    hasAmount: payment.total !== 0,
  };
}

/**
 * Infers the period of a payment that reports none: for a purchase the one that the subscription reports, unless that is of a
 * later renewal; else one billing cycle.
 */
function inferPeriod(
  payment: PaymentFact,
  { history }: TrackedLine,
  ends: readonly ReportedEnd[],
): BillingPeriod | null {
  if (payment.origin !== 'purchase' && payment.origin !== 'renewal') return null;
  const startsAt = payment.occurredAt;
  const cycle = history.findLast((line) => line.cycle !== null)?.cycle ?? null;
  const cycleEnd = cycle === null ? null : addCycle(startsAt, cycle);
  const isRenewal = payment.origin === 'renewal';
  const isOwn = ({ period }: ReportedEnd): boolean => {
    const distance = period.endsAt.getTime() - (cycleEnd ?? period.endsAt).getTime();
    // A renewal that is paid late pays what is left of its period.
    return isRenewal
      ? isLater(period.endsAt, startsAt) && distance <= MONTH_TOLERANCE_MS
      : period.endsAt > startsAt && !isLater(period.startsAt, startsAt);
  };
  const reported = ends.filter(isOwn).map(({ period }) => period.endsAt.getTime());
  if (reported.length > 0) return { startsAt, endsAt: new Date(Math.min(...reported)) };
  return cycleEnd === null ? null : { startsAt, endsAt: cycleEnd };
}

/** Lists the charges for a line within a period, such as for a larger quantity. */
function listCharges(
  { adjustments }: PurchaseFacts,
  tracked: TrackedLine,
  payment: PaymentFact,
): PaidPeriod[] {
  return (payment.prorations ?? [])
    .filter((each) => !each.isCredit && isOfLine(tracked, each) && isValid(each.period))
    .map(({ lineId, priceId, period }) => ({
      ...period,
      paidAt: payment,
      transactionId: payment.transactionId,
      lineId,
      priceId,
      refundedAt: findRefund(payment, adjustments, null),
      hasAmount: payment.total !== 0,
    }));
}

/** A refunded payment takes its reported period with it. */
function toReportedPeriod(payment: PaymentFact, paid: readonly PaidPeriod[]): PaidPeriod | null {
  const { period } = payment;
  if (period === null || !isValid(period)) return null;
  const own = paid.filter(({ endsAt }) => isNear(endsAt, period.endsAt, MONTH_TOLERANCE_MS));
  const isKept = own.length === 0 || own.some(({ refundedAt }) => refundedAt === null);
  return {
    ...period,
    paidAt: payment,
    transactionId: payment.transactionId,
    lineId: null,
    priceId: null,
    refundedAt: isKept ? null : (own[0]?.refundedAt ?? null),
    hasAmount: false,
  };
}

/** Ends periods early where they were replaced. */
function shorten(
  periods: readonly PaidPeriod[],
  facts: PurchaseFacts,
  tracked: TrackedLine,
  ends: readonly ReportedEnd[],
): PaidPeriod[] {
  const credits = facts.payments.flatMap((payment) =>
    findRefund(payment, facts.adjustments, null) === null
      ? (payment.prorations ?? [])
          .filter((each) => each.isCredit && isOfLine(tracked, each))
          .map((credit) => ({ payment, credit }))
      : [],
  );
  return periods.map((period) => {
    let { endsAt } = period;
    for (const { payment, credit } of credits) {
      const isOther = payment.transactionId !== period.transactionId;
      const isReplaced = period.priceId === null || period.priceId === credit.priceId;
      const at = credit.period.startsAt;
      if (!isOther || !isReplaced || compareOccurrences(period.paidAt, payment) > 0) continue;
      if (period.startsAt < at && at < endsAt) endsAt = at;
    }
    for (const { snapshot, period: reported } of ends) {
      if (compareOccurrences(period.paidAt, snapshot) > 0) continue;
      const isCurrent = isLater(reported.endsAt, period.startsAt);
      const isShorter = isLater(period.endsAt, reported.endsAt) && reported.endsAt < endsAt;
      if (isCurrent && isShorter) endsAt = reported.endsAt;
    }
    return { ...period, endsAt };
  });
}

function findEnd(
  { snapshots }: PurchaseFacts,
  ends: readonly ReportedEnd[],
  kept: readonly PaidPeriod[],
  refunded: readonly PaidPeriod[],
): Date | null {
  const paid = findLatest(kept)?.endsAt ?? null;
  const newest = snapshots.at(-1);
  const reported = ends.find(({ snapshot }) => snapshot === newest);
  if (newest === undefined || reported === undefined) return paid;
  const { endsAt } = reported.period;
  const isPaid = paid !== null && !isLater(endsAt, paid);
  if (!isPaid && refunded.some((each) => isNear(each.endsAt, endsAt, TOLERANCE_MS))) return paid;
  const later = kept.filter(
    (each) => compareOccurrences(each.paidAt, newest) > 0 || !isLater(endsAt, each.startsAt),
  );
  const latest = findLatest(later)?.endsAt ?? endsAt;
  return latest > endsAt ? latest : endsAt;
}

function findLatest(periods: readonly PaidPeriod[]): PaidPeriod | null {
  return periods.toSorted((a, b) => a.endsAt.getTime() - b.endsAt.getTime()).at(-1) ?? null;
}

function isLater(one: Date, other: Date): boolean {
  return one.getTime() - other.getTime() > TOLERANCE_MS;
}

function isNear(one: Date, other: Date, tolerance: number): boolean {
  return Math.abs(one.getTime() - other.getTime()) <= tolerance;
}
