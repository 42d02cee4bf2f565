import type { Purchase, PurchaseFacts } from '../group-purchases.ts';
import type { MergedPayment } from '../merge-versions.ts';
import { findPurchase } from '../paid-lines.ts';
import { compareOccurrences, type AdjustmentFact, type PaymentFact } from '../../facts.ts';
import { computeRecurring } from './compute-recurring.ts';
import { keyOf, listLines, type NameProduct } from './payment-parts.ts';
import { splitAmount, type Measures, type RevenueEntry } from './measures.ts';

/** Computes what a purchase adds to revenue, for each payment: a pure function of its facts. */
export function computeRevenue({ facts }: Purchase, nameProduct: NameProduct): RevenueEntry[] {
  const counted = listCountedPayments(facts);
  const money = counted.flatMap((payment) => computeMoney(facts, payment, nameProduct));
  return [...money, ...computeRecurring(facts, counted, nameProduct)];
}

function listCountedPayments(facts: PurchaseFacts): MergedPayment[] {
  return listSeparatePayments(facts)
    .map((payment) => (payment.part === undefined ? payment : { ...payment, ...payment.part }))
    .filter(({ total }) => (total ?? 0) > 0);
}

/**
 * Lists payments without repetitions: the same money may be reported twice, by a checkout and its invoice, or by an order and
 * the first invoice of its subscription.
 */
export function listSeparatePayments(facts: PurchaseFacts): MergedPayment[] {
  const others = facts.payments.filter(({ origin }) => origin !== 'other');
  const names = new Set(others.flatMap(listNames));
  const isRepeated = (payment: MergedPayment): boolean =>
    payment.origin === 'other' &&
    (listNames(payment).some((name) => names.has(name)) ||
      (facts.provider.startsWith('lemonsqueezy') && findPurchase(facts.payments) !== null));
  return facts.payments.filter((payment) => !isRepeated(payment));
}

function listNames({ transactionId, aliases = [], checkoutId }: PaymentFact): string[] {
  return [transactionId, ...aliases, ...(checkoutId === undefined ? [] : [checkoutId])];
}

/** An amount that was paid or paid back. */
interface Movement {
  readonly at: Date;
  readonly measures: Measures;
}

function computeMoney(
  facts: PurchaseFacts,
  payment: MergedPayment,
  nameProduct: NameProduct,
): RevenueEntry[] {
  const shares = listShares(facts, payment, nameProduct);
  const movements = [
    { at: payment.occurredAt, measures: toPaid(payment) },
    ...listMoneyBack(facts.adjustments, payment),
  ];
  return movements.flatMap(({ at, measures }) => {
    const parts = splitMeasures(measures, shares);
    return shares.map(({ productId }, index) => ({
      ...keyOf(facts, payment),
      day: monthOf(at),
      productId,
      measures: parts[index] ?? {},
    }));
  });
}

function toPaid({ total, tax = 0, fee = 0 }: PaymentFact): Measures {
  return { payments: 1, gross: total ?? 0, tax, fees: fee };
}

/** Lists the refunds and open chargebacks of a payment: together at most what was paid. */
function listMoneyBack(adjustments: readonly AdjustmentFact[], payment: PaymentFact): Movement[] {
  const own = adjustments
    .filter(({ transactionId, status }) => {
      return transactionId === payment.transactionId && status === 'approved';
    })
    .sort(compareOccurrences);
  const reversals = own.filter(({ effect }) => effect === 'chargeback_reverse').length;
  const chargebacks = own.filter(({ effect }) => effect === 'chargeback').slice(reversals);
  const refunds = own.filter(({ effect }) => effect === 'refund');
  let back = 0;
  return [...refunds, ...chargebacks].flatMap((each) => {
    const amount = Math.min(amountOf(each, payment, back), (payment.total ?? 0) - back);
    if (amount <= 0) return [];
    const tax = taxOf(payment, back + amount) - taxOf(payment, back);
    back += amount;
    const measures =
      each.effect === 'refund'
        ? { refunds: amount, refundedTax: tax }
        : { disputes: amount, disputedTax: tax };
    return [{ at: each.occurredAt, measures }];
  });
}

function amountOf(fact: AdjustmentFact, payment: PaymentFact, back: number): number {
  const { total, currency } = payment;
  const rest = (total ?? 0) - back;
  if (fact.full === true) return rest;
  if (payment.part !== undefined) return amountOfPart(fact, payment);
  const isOther =
    fact.currency !== undefined && currency !== undefined && fact.currency !== currency;
  if (isOther) return 0;
  const lines = fact.lines.reduce((sum, line) => sum + (line.total ?? 0), 0);
  return fact.total ?? (lines > 0 ? lines : fact.effect === 'refund' ? 0 : rest);
}

/** Of a split order: what came back of the lines of this part, with their tax, which the amounts of lines do not contain. */
function amountOfPart(fact: AdjustmentFact, { lines, total }: PaymentFact): number {
  const own = new Set(lines.map(({ lineId }) => lineId));
  const returned = fact.lines.filter(({ lineId }) => own.has(lineId));
  const whole = lines.reduce((sum, line) => sum + (line.total ?? 0), 0);
  const back = returned.reduce((sum, line) => sum + (line.total ?? 0), 0);
  return whole === 0 ? 0 : Math.round((back * (total ?? 0)) / whole);
}

/** The tax of a part of a payment. */
function taxOf({ tax = 0, total }: PaymentFact, amount: number): number {
  return total === null || total === 0 ? 0 : Math.round((tax * amount) / total);
}

/** A product, and its weight in a payment. */
interface Share {
  readonly productId: string;
  readonly weight: number;
}

/** Divides a payment among products by the totals of its lines. */
function listShares(
  facts: PurchaseFacts,
  payment: MergedPayment,
  nameProduct: NameProduct,
): Share[] {
  const lines = listLines(facts, payment);
  const isKnown = lines.every(({ total }) => total !== null && total >= 0);
  const weights = new Map<string, number>();
  for (const { priceId, total } of lines) {
    const productId = nameProduct(priceId);
    weights.set(productId, (weights.get(productId) ?? 0) + (isKnown ? (total ?? 0) : 1));
  }
  if (weights.size === 0) return [{ productId: '', weight: 1 }];
  return Array.from(weights, ([productId, weight]) => ({ productId, weight })).sort((a, b) =>
    a.productId < b.productId ? -1 : 1,
  );
}

function splitMeasures(measures: Measures, shares: readonly Share[]): Measures[] {
  const weights = shares.map(({ weight }) => weight);
  const split = Object.entries(measures).map(
    ([name, amount]) =>
      // A payment is counted with its first product.
      [
        name,
        splitAmount(
          amount,
          name === 'payments' ? weights.map((_, i) => (i === 0 ? 1 : 0)) : weights,
        ),
      ] as const,
  );
  return shares.map((_, index) =>
    Object.fromEntries(split.map(([name, parts]) => [name, parts[index] ?? 0])),
  );
}

/** The first day of a month, in UTC. */
function monthOf(time: Date): string {
  return `${time.toISOString().slice(0, 7)}-01`;
}
