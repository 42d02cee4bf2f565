/** Compares the revenue that operators read with the money that the shop received and paid back. */
import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { rollUpDueRevenue } from '../../server/src/features/billing/roll-up-revenue.ts';
import type { TestService } from '../../server/test/harness.ts';
import { openBrowser } from '../../server/test/operator-steps.ts';
import { toDate, type AnyHappening, type Paid } from './happenings.ts';

const PATH = '/api/v1/admin/revenue?by=month,provider&from=2026-01&to=2026-12';

const Amounts = {
  payments: Type.Integer(),
  gross: Type.Integer(),
  refunds: Type.Integer(),
  disputes: Type.Integer(),
  net: Type.Integer(),
};
const Row = Type.Object({
  month: Type.String(),
  provider: Type.String(),
  currency: Type.String(),
  ...Amounts,
});
const Answer = Type.Object({ rows: Type.Array(Row), pending: Type.Literal(0) });

type Sums = { -readonly [Name in keyof typeof Amounts]: number };

/** Audits the revenue of each month, provider and currency. @returns differences, a sentence each */
export async function auditRevenue(
  service: TestService,
  happenings: readonly AnyHappening[],
): Promise<string[]> {
  await rollUpDueRevenue(service.context);
  const browser = await openBrowser(service, 'viewer');
  const { body } = await browser.get(PATH);
  const { rows } = Parse(Answer, body);
  const found = new Map(rows.filter(hasMoney).map((row) => [nameRow(row), writeSums(row)]));
  const expected = sumUp(happenings);
  const names = new Set([...found.keys(), ...expected.keys()]);
  return [...names].flatMap((name) => {
    const [here, wanted] = [found.get(name) ?? 'nothing', expected.get(name) ?? 'nothing'];
    return here === wanted ? [] : [`revenue of ${name}: ${here}, not ${wanted}`];
  });
}

/** Rows also list recurring revenue, of months without a payment. */
function hasMoney({ payments, refunds, disputes }: Static<typeof Row>): boolean {
  return payments > 0 || refunds > 0 || disputes > 0;
}

function nameRow({ month, provider, currency }: Static<typeof Row>): string {
  return `${month} at ${provider} in ${currency}`;
}

function writeSums({ payments, gross, refunds, disputes, net }: Sums): string {
  return `${payments} payments of ${gross}, ${refunds} refunded, ${disputes} disputed, ${net} net`;
}

/** Adds up what happened, all of it in euros and without tax. A payment is not paid back twice. */
function sumUp(happenings: readonly AnyHappening[]): ReadonlyMap<string, string> {
  const sums = new Map<string, Sums>();
  const left = new Map<Paid, number>();
  const add = (happening: AnyHappening, change: Partial<Sums>): void => {
    const { buyer, day } = happening;
    const month = toDate(day).toISOString().slice(0, 7);
    const name = nameRow({ ...NOTHING, month, provider: buyer.provider, currency: 'EUR' });
    const sum = sums.get(name) ?? { ...NOTHING };
    sums.set(name, sum);
    for (const key of MEASURES) sum[key] += change[key] ?? 0;
  };
  for (const happening of happenings) {
    if (happening.kind !== 'paid' || happening.amount === 0) continue;
    const { amount } = happening;
    left.set(happening, amount);
    add(happening, { payments: 1, gross: amount, net: amount });
  }
  const won = new Set(happenings.flatMap((each) => (each.kind === 'won' ? [each.payment] : [])));
  for (const kind of ['refunded', 'disputed'] as const) {
    for (const happening of happenings) {
      if (happening.kind !== kind || (kind === 'disputed' && won.has(happening.payment))) continue;
      const { payment } = happening;
      const amount = Math.min(happening.amount, left.get(payment) ?? 0);
      left.set(payment, (left.get(payment) ?? 0) - amount);
      if (amount === 0) continue;
      add(happening, { [kind === 'refunded' ? 'refunds' : 'disputes']: amount, net: -amount });
    }
  }
  return new Map(Array.from(sums, ([name, sum]) => [name, writeSums(sum)]));
}

const NOTHING: Readonly<Sums> = { payments: 0, gross: 0, refunds: 0, disputes: 0, net: 0 };
const MEASURES = ['payments', 'gross', 'refunds', 'disputes', 'net'] as const;
