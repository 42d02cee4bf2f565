/** Compares the revenue that operators read with the ledger of the shop. */
import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { rollUpDueRevenue } from '../../server/src/features/billing/roll-up-revenue.ts';
import type { TestService } from '../../server/test/harness.ts';
import { openBrowser } from '../../server/test/operator-steps.ts';
import { MEASURES, sumUp, type Entry, type Ledger, type Sums } from './ledger.ts';

const Text = Type.Union([Type.String(), Type.Null()]);
const Row = Type.Object({
  month: Text,
  provider: Text,
  country: Text,
  product: Text,
  currency: Type.String(),
  decimals: Type.Integer(),
  payments: Type.Integer(),
  gross: Type.Integer(),
  tax: Type.Integer(),
  fees: Type.Integer(),
  refunds: Type.Integer(),
  refunded_tax: Type.Integer(),
  disputes: Type.Integer(),
  disputed_tax: Type.Integer(),
  net: Type.Integer(),
});
type Row = Static<typeof Row>;
const Answer = Type.Object({ rows: Type.Array(Row), pending: Type.Literal(0) });

/** What revenue is requested by, from the whole to its parts. */
const GROUPINGS = [
  ['provider'],
  ['month', 'provider', 'country'],
  ['month', 'product'],
  ['provider', 'product', 'country'],
] as const;
type Dimension = (typeof GROUPINGS)[number][number];

const DECIMALS: Readonly<Record<string, number>> = { EUR: 2, USD: 2, JPY: 0 };

/** Audits the revenue of the year, and that of each month and country. @returns differences, a sentence each */
export async function auditRevenue(service: TestService, ledger: Ledger): Promise<string[]> {
  await rollUpDueRevenue(service.context);
  const browser = await openBrowser(service, 'viewer');
  const differences: string[] = [];
  for (const dimensions of GROUPINGS) {
    const path = `/api/v1/admin/revenue?by=${dimensions.join()}&from=2026-01&to=2026-12`;
    const { body } = await browser.get(path);
    differences.push(...compareRevenue(Parse(Answer, body).rows, ledger.entries, dimensions));
  }
  return differences;
}

/** Compares rows of a report with the entries of the ledger, added up by the same dimensions. */
export function compareRevenue(
  rows: readonly Row[],
  entries: readonly Entry[],
  dimensions: readonly Dimension[],
): string[] {
  const nameOf = (key: Pick<Row, Dimension | 'currency'>): string =>
    [...dimensions.map((dimension) => key[dimension] ?? 'unknown'), key.currency].join(' ');
  const found = new Map(rows.filter(hasMoney).map((row) => [nameOf(row), describe(row, row.net)]));
  const expected = new Map(
    Array.from(sumUp(entries, nameOf), ([name, sums]) => [name, describe(sums, netOf(sums))]),
  );
  const names = new Set([...found.keys(), ...expected.keys()]);
  const differences = [...names].flatMap((name) => {
    const [here, wanted] = [found.get(name) ?? 'nothing', expected.get(name) ?? 'nothing'];
    return here === wanted ? [] : [`revenue of ${name}: ${here}, not ${wanted}`];
  });
  return [...differences, ...rows.flatMap(checkDecimals)];
}

function netOf(sums: Sums): number {
  const { gross, tax, refunds, refunded_tax: refundedTax, disputes, disputed_tax: lostTax } = sums;
  return gross - tax - refunds + refundedTax - disputes + lostTax;
}

/** Rows also list recurring revenue, of months without a payment. */
function hasMoney(row: Row): boolean {
  return MEASURES.some((measure) => row[measure] !== 0);
}

function checkDecimals({ currency, decimals }: Row): string[] {
  const expected = DECIMALS[currency];
  return decimals === expected
    ? []
    : [`an amount in ${currency} has ${decimals} decimals, not ${expected ?? 'any'}`];
}

function describe(sums: Sums, net: number): string {
  return [...MEASURES.map((measure) => `${measure} ${sums[measure]}`), `net ${net}`].join(', ');
}
