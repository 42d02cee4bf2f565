/** The money of the shop, as its own ledger has it. */
import { toDate, type AnyHappening, type Paid, type Returned } from './happenings.ts';
import { feeOf } from './money.ts';

/** What money is added up as, in the smallest unit of its currency. */
export const MEASURES = [
  'payments',
  'gross',
  'tax',
  'fees',
  'refunds',
  'refunded_tax',
  'disputes',
  'disputed_tax',
] as const;

export type Sums = Record<(typeof MEASURES)[number], number>;

/** An entry: money that came or went. */
export interface Entry {
  /** Such as `2026-03`. */
  readonly month: string;
  readonly provider: string;
  readonly currency: string;
  /** Null: the provider does not report it. */
  readonly country: string | null;
  /** Null: the catalogue lacks its price. */
  readonly product: string | null;
  readonly sums: Partial<Readonly<Sums>>;
}

/** Sums by currency. */
export interface Totals {
  readonly payments: number;
  readonly currencies: ReadonlyMap<string, Readonly<Sums>>;
}

export interface Ledger {
  readonly entries: readonly Entry[];
  readonly totals: Totals;
}

/** Adds up entries by a name. */
export function sumUp(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
): Map<string, Sums> {
  const sums = new Map<string, Sums>();
  for (const entry of entries) {
    const sum = sums.get(nameOf(entry)) ?? noSums();
    for (const measure of MEASURES) sum[measure] += entry.sums[measure] ?? 0;
    sums.set(nameOf(entry), sum);
  }
  return sums;
}

export function noSums(): Sums {
  return {
    payments: 0,
    gross: 0,
    tax: 0,
    fees: 0,
    refunds: 0,
    refunded_tax: 0,
    disputes: 0,
    disputed_tax: 0,
  };
}

/** Enters all payments, then what went back: never more than was paid, and no dispute that the shop won. */
export function keepLedger(happenings: readonly AnyHappening[]): Ledger {
  const paid = happenings.filter((each) => each.kind === 'paid' && each.amount > 0);
  const returned = happenings.filter(
    (each) => each.kind === 'refunded' || each.kind === 'disputed',
  );
  const won = new Set(happenings.flatMap((each) => (each.kind === 'won' ? [each.payment] : [])));
  const entries = paid.flatMap((each) => (each.kind === 'paid' ? [enterPayment(each)] : []));
  const left = new Map<Paid, { amount: number; tax: number }>();
  for (const kind of ['refunded', 'disputed'] as const) {
    for (const each of returned) {
      if (each.kind !== kind || (kind === 'disputed' && won.has(each.payment))) continue;
      entries.push(enterReturn(each, left));
    }
  }
  const currencies = sumUp(entries, ({ currency }) => currency);
  return { entries, totals: { payments: paid.length, currencies } };
}

function enterPayment(payment: Paid): Entry {
  const { amount, tax, buyer } = payment;
  const fees = feeOf(buyer.provider, amount);
  return { ...keyOf(payment, payment), sums: { payments: 1, gross: amount, tax, fees } };
}

function enterReturn(returned: Returned, left: Map<Paid, { amount: number; tax: number }>): Entry {
  const { payment, kind } = returned;
  const rest = left.get(payment) ?? { amount: payment.amount, tax: payment.tax };
  const amount = Math.min(returned.amount, rest.amount);
  const tax = amount === rest.amount ? rest.tax : returned.tax;
  left.set(payment, { amount: rest.amount - amount, tax: rest.tax - tax });
  const sums =
    kind === 'refunded'
      ? { refunds: amount, refunded_tax: tax }
      : { disputes: amount, disputed_tax: tax };
  return { ...keyOf(returned, payment), sums };
}

function keyOf({ day }: AnyHappening, { buyer, plan }: Paid): Omit<Entry, 'sums'> {
  const { provider, market } = buyer;
  return {
    month: toDate(day).toISOString().slice(0, 7),
    provider,
    currency: market.currency,
    country: reportsCountry(provider) ? market.country : null,
    product: plan.product,
  };
}

/** Lemon Squeezy reports no country. */
function reportsCountry(provider: string): boolean {
  return provider !== 'lemonsqueezy';
}
