/** Monthly recurring revenue: what the paid period of a subscription costs for each month, from its start to its end. */
import type { BillingCycle, BillingPeriod } from '../../facts.ts';
import { addCycle } from '../billing-cycle.ts';
import type { PurchaseFacts } from '../group-purchases.ts';
import type { MergedPayment } from '../merge-versions.ts';
import { findRefund } from '../money-back.ts';
import { keyOf, listLines, type NameProduct } from './payment-parts.ts';
import { splitAmount, type Measures, type RevenueEntry } from './measures.ts';

const DAY_MS = 86_400_000;

/** Providers renew some hours late; a subscription that does not renew is lost on the day after. */
const LATE_MS = DAY_MS;

const DAYS_OF_MONTH = 365.25 / 12;

/** What a payment adds to recurring revenue, by product. */
interface Span extends BillingPeriod {
  readonly payment: MergedPayment;
  readonly amounts: ReadonlyMap<string, number>;
}

/** Computes when a subscription became more or less recurring revenue. A charge within a period counts from the next renewal on. */
export function computeRecurring(
  facts: PurchaseFacts,
  payments: readonly MergedPayment[],
  nameProduct: NameProduct,
): RevenueEntry[] {
  const spans = payments
    .filter(({ origin }) => origin === 'purchase' || origin === 'renewal')
    .flatMap((payment) => toSpan(facts, payment, nameProduct) ?? [])
    .sort((a, b) => a.startsAt.getTime() - b.startsAt.getTime());
  return joinSpans(spans).flatMap((run, index) => listMovements(facts, run, index > 0));
}

function toSpan(
  facts: PurchaseFacts,
  payment: MergedPayment,
  nameProduct: NameProduct,
): Span | null {
  const lines = listLines(facts, payment).filter(({ cycle }) => cycle !== null);
  const [cycle] = lines.flatMap((line) => line.cycle ?? []);
  if (cycle === undefined) return null;
  const startsAt = payment.period?.startsAt ?? payment.occurredAt;
  const paidUntil = payment.period?.endsAt ?? addCycle(startsAt, cycle);
  const endsAt = findEnd(facts, payment, paidUntil);
  if (endsAt <= startsAt) return null;
  const amounts = new Map<string, number>();
  const all = listLines(facts, payment);
  const isKnown = all.every(({ total }) => total !== null && total >= 0);
  const net = (payment.total ?? 0) - (payment.tax ?? 0);
  const parts = splitAmount(
    net,
    all.map(({ total }) => (isKnown ? (total ?? 0) : 1)),
  );
  for (const [index, line] of all.entries()) {
    if (line.cycle === null) continue;
    const monthly = Math.round((parts[index] ?? 0) / countMonths(line.cycle));
    const productId = nameProduct(line.priceId);
    amounts.set(productId, (amounts.get(productId) ?? 0) + monthly);
  }
  return { payment, startsAt, endsAt, amounts };
}

/** A refund, a cancellation and a pause end the revenue of a period early. */
function findEnd(
  { snapshots, adjustments }: PurchaseFacts,
  payment: MergedPayment,
  paidUntil: Date,
): Date {
  const newest = snapshots.at(-1);
  const ends = [
    paidUntil,
    findRefundOf(payment, adjustments),
    newest?.status === 'canceled' ? (newest.canceledAt ?? newest.occurredAt) : null,
    newest?.status === 'paused' ? (newest.pausedAt ?? newest.occurredAt) : null,
  ];
  return new Date(Math.min(...ends.flatMap((end) => end?.getTime() ?? [])));
}

/** A return of a split order pays back the lines that it names. */
function findRefundOf(payment: MergedPayment, adjustments: PurchaseFacts['adjustments']) {
  if (payment.part === undefined) return findRefund(payment, adjustments, null);
  const line = payment.lines.find(({ cycle }) => cycle !== null);
  return findRefund({ ...payment, total: null }, adjustments, line?.lineId ?? null);
}

function countMonths({ interval, frequency }: BillingCycle): number {
  switch (interval) {
    case 'year':
      return frequency * 12;
    case 'month':
      return frequency;
    case 'week':
      return (frequency * 7) / DAYS_OF_MONTH;
    case 'day':
      return frequency / DAYS_OF_MONTH;
  }
}

/** Joins the spans that follow each other without a gap; a span ends where the next one starts. */
function joinSpans(spans: readonly Span[]): Span[][] {
  const runs: Span[][] = [];
  let end = Number.NEGATIVE_INFINITY;
  for (const span of spans) {
    const run = runs.at(-1);
    if (run !== undefined && span.startsAt.getTime() <= end + LATE_MS) run.push(span);
    else runs.push([span]);
    end = Math.max(end, span.endsAt.getTime());
  }
  return runs;
}

function listMovements(
  facts: PurchaseFacts,
  run: readonly Span[],
  isAgain: boolean,
): RevenueEntry[] {
  const [first] = run;
  if (first === undefined) return [];
  const last = run.reduce((a, b) => (b.endsAt > a.endsAt ? b : a), first);
  const changes = run.slice(1).flatMap((span, index) => toChange(facts, run[index] ?? first, span));
  const begin = isAgain ? 'mrrReactivated' : 'mrrNew';
  const count = isAgain ? 'subscriptionsReactivated' : 'subscriptionsNew';
  const ended = run.at(-1) ?? first;
  const lostAt = new Date(last.endsAt.getTime() + LATE_MS);
  return [
    ...toEntries(facts, first, first.startsAt, first.amounts, begin, { [count]: 1 }),
    ...changes,
    ...toEntries(facts, ended, lostAt, negate(ended.amounts), 'mrrLost', { subscriptionsLost: 1 }),
  ];
}

function toChange(facts: PurchaseFacts, before: Span, after: Span): RevenueEntry[] {
  const products = new Set([...before.amounts.keys(), ...after.amounts.keys()]);
  const differences = new Map(
    [...products].map((productId) => [
      productId,
      (after.amounts.get(productId) ?? 0) - (before.amounts.get(productId) ?? 0),
    ]),
  );
  const total = [...differences.values()].reduce((sum, each) => sum + each, 0);
  const measure = total < 0 ? 'mrrContraction' : 'mrrExpansion';
  const isSame =
    keyOf(facts, before.payment).currency === keyOf(facts, after.payment).currency &&
    keyOf(facts, before.payment).country === keyOf(facts, after.payment).country;
  if (isSame) return toEntries(facts, after, after.startsAt, differences, measure, {});
  // Another currency or country: the old one ends where the new one begins.
  return [
    ...toEntries(facts, before, after.startsAt, negate(before.amounts), 'mrrContraction', {}),
    ...toEntries(facts, after, after.startsAt, after.amounts, 'mrrExpansion', {}),
  ];
}

function negate(amounts: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  return new Map(Array.from(amounts, ([productId, amount]) => [productId, -amount]));
}

/** @param counts are those of the first product */
function toEntries(
  facts: PurchaseFacts,
  { payment }: Span,
  at: Date,
  amounts: ReadonlyMap<string, number>,
  measure: keyof Measures,
  counts: Measures,
): RevenueEntry[] {
  return [...amounts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([productId, amount], index) => ({
      ...keyOf(facts, payment),
      day: at.toISOString().slice(0, 10),
      productId,
      measures: { [measure]: amount, ...(index === 0 ? counts : {}) },
    }))
    .filter(({ measures }) => Object.values(measures).some((value) => value !== 0));
}
