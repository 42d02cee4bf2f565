import { decimalsOf, type RevenueDimension, type RevenueRow } from '@latchkey/contract';

import type { Measure } from './measures.ts';

/** The sums of a month and a group. */
export interface RevenueSums extends Readonly<Record<Measure, number>> {
  /** Such as `2027-03`; empty: before all months of the report. */
  readonly month: string;
  readonly provider: string;
  readonly productId: string;
  readonly country: string;
  readonly currency: string;
}

/** What a currency is worth in another one. */
export interface Conversion {
  readonly currency: string;
  readonly rates: ReadonlyMap<string, number>;
}

/** How revenue is divided. */
export interface RevenueGrouping {
  readonly by: ReadonlySet<RevenueDimension>;
  /** Such as `2027-03`. */
  readonly from: string;
  readonly to: string;
  /** Null: a row for each currency. */
  readonly conversion: Conversion | null;
}

const AMOUNTS = [
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
] as const;

type Amounts = Record<(typeof AMOUNTS)[number] | 'mrr', number>;

interface Group {
  readonly month: string | null;
  readonly product: string;
  readonly country: string;
  readonly provider: string;
  readonly currency: string;
  readonly decimals: number;
  readonly amounts: Amounts;
  payments: number;
  running: number;
  began: number;
  lost: number;
}

/**
 * Adds sums up to rows. Amounts in one currency are added even if providers write them with different decimals; those in
 * different currencies are added only with a rate.
 * @param sums of all months until the last one
 */
export function summarizeRevenue(
  sums: readonly RevenueSums[],
  grouping: RevenueGrouping,
): RevenueRow[] {
  const decimals = findDecimals(sums, grouping.conversion);
  const series = new Map<string, Series>();
  for (const sum of sums) addSum(series, sum, decimals, grouping);
  const months = grouping.by.has('month') ? listMonths(sums, grouping) : [null];
  return [...series.values()]
    .flatMap((each) => listGroups(each, months))
    .filter(({ payments, amounts, running, began, lost }) =>
      [payments, running, began, lost, ...Object.values(amounts)].some((value) => value !== 0),
    )
    .map((group) => toRow(group, grouping))
    .map((row) => ({ row, name: nameRow(row) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(({ row }) => row);
}

/** Returns the name of a row, by which rows are sorted; the name of a month is before those of its rows. */
export function nameRow({ month, product, country, provider, currency }: RevenueRow): string {
  return `${month ?? ''}|${product ?? ''}|${country ?? ''}|${provider ?? ''}|${currency ?? ''}`;
}

/** The most decimals that any provider uses for a currency. */
function findDecimals(
  sums: readonly RevenueSums[],
  conversion: Conversion | null,
): ReadonlyMap<string, number> {
  const decimals = new Map<string, number>();
  const add = (currency: string, count: number): void => {
    decimals.set(currency, Math.max(decimals.get(currency) ?? 0, count));
  };
  if (conversion !== null) add(conversion.currency, decimalsOf('standard', conversion.currency));
  for (const { currency, provider } of sums) add(currency, decimalsOf(provider, currency));
  return decimals;
}

/** The groups of a product, country, provider and currency by their months; recurring revenue as its change in the month. */
type Series = Map<string | null, Group>;

function addSum(
  series: Map<string, Series>,
  sum: RevenueSums,
  decimals: ReadonlyMap<string, number>,
  { by, from, conversion }: RevenueGrouping,
): void {
  const { rate, currency } = convert(sum.currency, conversion);
  const target = decimals.get(currency) ?? 2;
  const scale = rate * 10 ** (target - decimalsOf(sum.provider, sum.currency));
  const product = by.has('product') ? sum.productId : '';
  const country = by.has('country') ? sum.country : '';
  const provider = by.has('provider') ? sum.provider : '';
  const first = sum.month < from ? from : sum.month;
  const key = { month: by.has('month') ? first : null, product, country, provider, currency };
  const group = findGroup(series, { ...key, decimals: target });
  if (sum.month >= from) addOwn(group, sum, scale);
  group.amounts.mrr += scale * sumRecurring(sum);
  group.running += sum.subscriptionsNew + sum.subscriptionsReactivated - sum.subscriptionsLost;
}

/** Lists the groups of months in which something happened or recurs: what began in a month is recurring in all later ones. */
function listGroups(series: Series, months: readonly (string | null)[]): Group[] {
  const [any] = series.values();
  if (any === undefined) return [];
  let mrr = 0;
  let running = 0;
  return months.flatMap((month) => {
    const group = series.get(month);
    mrr += group?.amounts.mrr ?? 0;
    running += group?.running ?? 0;
    if (group === undefined && mrr === 0 && running === 0) return [];
    const { amounts, ...own } = group ?? createGroup({ ...any, month });
    return [{ ...own, running, amounts: { ...amounts, mrr } }];
  });
}

function convert(
  currency: string,
  conversion: Conversion | null,
): { readonly rate: number; readonly currency: string } {
  const rate = conversion?.rates.get(currency);
  return rate === undefined || conversion === null
    ? { rate: 1, currency }
    : { rate, currency: conversion.currency };
}

/** Lists the months since the first sum, so that a first month of long ago costs nothing. */
function listMonths(sums: readonly RevenueSums[], { from, to }: RevenueGrouping): string[] {
  const first = sums.reduce((least, { month }) => (month < least ? month : least), to);
  const months: string[] = [];
  for (let each = first < from ? from : first; each <= to; each = monthAfter(each))
    months.push(each);
  return months;
}

/** Returns the month after one, such as `2027-03`. */
export function monthAfter(month: string): string {
  const next = new Date(`${month}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return next.toISOString().slice(0, 7);
}

type GroupKey = Pick<Group, 'month' | 'product' | 'country' | 'provider' | 'currency' | 'decimals'>;

function findGroup(series: Map<string, Series>, key: GroupKey): Group {
  const { month, product, country, provider, currency } = key;
  const name = [product, country, provider, currency].join('|');
  const own = series.get(name) ?? new Map<string | null, Group>();
  const group = own.get(month) ?? createGroup(key);
  own.set(month, group);
  series.set(name, own);
  return group;
}

function createGroup({ month, product, country, provider, currency, decimals }: GroupKey): Group {
  const key = { month, product, country, provider, currency, decimals };
  return { ...key, amounts: noAmounts(), payments: 0, running: 0, began: 0, lost: 0 };
}

function noAmounts(): Amounts {
  return {
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
    mrr: 0,
  };
}

function addOwn(group: Group, sum: RevenueSums, scale: number): void {
  for (const amount of AMOUNTS) group.amounts[amount] += scale * sum[amount];
  group.payments += sum.payments;
  group.began += sum.subscriptionsNew + sum.subscriptionsReactivated;
  group.lost += sum.subscriptionsLost;
}

function sumRecurring(sum: RevenueSums): number {
  return sum.mrrNew + sum.mrrReactivated + sum.mrrExpansion + sum.mrrContraction + sum.mrrLost;
}

function toRow(group: Group, { by }: RevenueGrouping): RevenueRow {
  const round = (amount: keyof Amounts): number => Math.round(group.amounts[amount]) + 0;
  const [gross, tax] = [round('gross'), round('tax')];
  const [refunds, refundedTax] = [round('refunds'), round('refundedTax')];
  const [disputes, disputedTax] = [round('disputes'), round('disputedTax')];
  return {
    month: group.month,
    product: by.has('product') ? emptyToNull(group.product) : null,
    country: by.has('country') ? emptyToNull(group.country) : null,
    provider: by.has('provider') ? group.provider : null,
    currency: emptyToNull(group.currency),
    decimals: group.decimals,
    payments: group.payments,
    gross,
    tax,
    refunds,
    refunded_tax: refundedTax,
    disputes,
    disputed_tax: disputedTax,
    net: gross - tax - (refunds - refundedTax) - (disputes - disputedTax),
    fees: round('fees'),
    mrr: round('mrr'),
    mrr_new: round('mrrNew'),
    mrr_reactivated: round('mrrReactivated'),
    mrr_expansion: round('mrrExpansion'),
    mrr_contraction: round('mrrContraction'),
    mrr_lost: round('mrrLost'),
    subscriptions: group.running,
    subscriptions_new: group.began,
    subscriptions_lost: group.lost,
  };
}

function emptyToNull(text: string): string | null {
  return text === '' ? null : text;
}
