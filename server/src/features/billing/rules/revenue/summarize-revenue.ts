import { decimalsOf, type RevenueDimension, type RevenueRow } from '@latchkey/contract';

import type { Measure } from './measures.ts';

/** The sums of a month and a group. */
export interface RevenueSums extends Readonly<Record<Measure, number>> {
  /** Such as `2027-03`. */
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
  const groups = new Map<string, Group>();
  for (const sum of sums) addSum(groups, sum, decimals, grouping);
  return [...groups.values()]
    .filter(({ payments, amounts, running, began, lost }) =>
      [payments, running, began, lost, ...Object.values(amounts)].some((value) => value !== 0),
    )
    .sort(compareGroups)
    .map((group) => toRow(group, grouping));
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

function addSum(
  groups: Map<string, Group>,
  sum: RevenueSums,
  decimals: ReadonlyMap<string, number>,
  grouping: RevenueGrouping,
): void {
  const { rate, currency } = convert(sum.currency, grouping.conversion);
  const target = decimals.get(currency) ?? 2;
  const scale = rate * 10 ** (target - decimalsOf(sum.provider, sum.currency));
  for (const month of listMonths(sum.month, grouping)) {
    const group = findGroup(groups, sum, { month, currency, decimals: target }, grouping);
    const isOwn = sum.month >= grouping.from && (month === null || month === sum.month);
    if (isOwn) addOwn(group, sum, scale);
    group.amounts.mrr += scale * sumRecurring(sum);
    group.running += sum.subscriptionsNew + sum.subscriptionsReactivated - sum.subscriptionsLost;
  }
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

/** What began in a month is recurring in all later ones. */
function listMonths(month: string, { by, from, to }: RevenueGrouping): (string | null)[] {
  if (!by.has('month')) return [null];
  const months: string[] = [];
  for (let each = month < from ? from : month; each <= to; each = nextMonth(each))
    months.push(each);
  return months;
}

/** Returns the month after one, such as `2027-03`. */
function nextMonth(month: string): string {
  const next = new Date(`${month}-01T00:00:00Z`);
  next.setUTCMonth(next.getUTCMonth() + 1);
  return next.toISOString().slice(0, 7);
}

function findGroup(
  groups: Map<string, Group>,
  sum: RevenueSums,
  own: Pick<Group, 'month' | 'currency' | 'decimals'>,
  { by }: RevenueGrouping,
): Group {
  const product = by.has('product') ? sum.productId : '';
  const country = by.has('country') ? sum.country : '';
  const provider = by.has('provider') ? sum.provider : '';
  const name = [own.month, product, country, provider, own.currency].join('|');
  const found = groups.get(name);
  if (found !== undefined) return found;
  const amounts = noAmounts();
  const created = {
    ...own,
    product,
    country,
    provider,
    amounts,
    payments: 0,
    running: 0,
    began: 0,
    lost: 0,
  };
  groups.set(name, created);
  return created;
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

function compareGroups(a: Group, b: Group): number {
  const [one, other] = [a, b].map(({ month, product, country, provider, currency }) =>
    [month ?? '', product, country, provider, currency].join('|'),
  );
  return (one ?? '') < (other ?? '') ? -1 : 1;
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
