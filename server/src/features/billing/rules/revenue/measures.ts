/** What revenue consists of, in the smallest unit of its currency and the provider's rule. */
export const MEASURES = [
  'payments',
  'gross',
  'tax',
  'fees',
  'refunds',
  'refundedTax',
  'disputes',
  'disputedTax',
  'mrrNew',
  'mrrExpansion',
  'mrrContraction',
  'mrrLost',
  'mrrReactivated',
  'subscriptionsNew',
  'subscriptionsLost',
  'subscriptionsReactivated',
] as const;

export type Measure = (typeof MEASURES)[number];

/** Sums of measures; absent: 0. */
export type Measures = Partial<Readonly<Record<Measure, number>>>;

/** What revenue is added up by. Texts are empty if unknown. */
export interface RevenueKey {
  readonly provider: string;
  /** In UTC, such as `2027-03-01`: the first day of the month, and for recurring revenue the day itself. */
  readonly day: string;
  readonly productId: string;
  /** ISO 3166-1. */
  readonly country: string;
  /** ISO 4217. */
  readonly currency: string;
}

/** A part of the revenue of a transaction. */
export interface RevenueEntry extends RevenueKey {
  readonly transactionId: string;
  readonly measures: Measures;
}

/** The sums of a key. */
export interface RevenueSum {
  readonly key: RevenueKey;
  readonly measures: Record<Measure, number>;
}

/**
 * Adds entries to sums by their keys.
 * @param sign -1 subtracts them
 * @param toDay the day of the key; default: that of the entry
 */
export function addEntries(
  sums: Map<string, RevenueSum>,
  entries: readonly RevenueEntry[],
  sign: 1 | -1,
  toDay: (day: string) => string = (day) => day,
): void {
  for (const { provider, day, productId, country, currency, measures } of entries) {
    const key = { provider, day: toDay(day), productId, country, currency };
    const name = JSON.stringify(Object.values(key));
    const sum = sums.get(name) ?? { key, measures: noMeasures() };
    for (const measure of MEASURES) sum.measures[measure] += sign * (measures[measure] ?? 0);
    sums.set(name, sum);
  }
}

function noMeasures(): Record<Measure, number> {
  return {
    payments: 0,
    gross: 0,
    tax: 0,
    fees: 0,
    refunds: 0,
    refundedTax: 0,
    disputes: 0,
    disputedTax: 0,
    mrrNew: 0,
    mrrExpansion: 0,
    mrrContraction: 0,
    mrrLost: 0,
    mrrReactivated: 0,
    subscriptionsNew: 0,
    subscriptionsLost: 0,
    subscriptionsReactivated: 0,
  };
}

/**
 * Splits an amount by weights into integers whose sum is the amount.
 * @param weights at least one; none of them negative. If all are 0, the parts are equal
 */
export function splitAmount(amount: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const shares = total === 0 ? weights.map(() => 1) : weights;
  const whole = total === 0 ? weights.length : total;
  let before = 0;
  let given = 0;
  return shares.map((share) => {
    before += share;
    const next = Math.round((amount * before) / whole);
    const part = next - given;
    given = next;
    return part;
  });
}
