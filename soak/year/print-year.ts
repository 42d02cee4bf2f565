import { writeAmount } from '@latchkey/contract/payment-providers';

import { noSums, type Sums } from './ledger.ts';
import { MARKETS } from './money.ts';
import { runYear, type YearOptions, type YearResult } from './run-year.ts';

/** Simulates a year and prints what was found. @returns the exit code: 1 if the service differs from the books */
export async function printYear(options: YearOptions): Promise<number> {
  const result = await runYear(options);
  process.stdout.write(describe(options, result));
  for (const difference of result.differences) process.stdout.write(`${difference}\n`);
  return result.differences.length === 0 ? 0 : 1;
}

function describe({ buyers, seed }: YearOptions, result: YearResult): string {
  const { events, deliveries, milliseconds, payments, totals, outcomes, licenses } = result;
  const seconds = Math.round(milliseconds / 1_000);
  const money = ['EUR', 'JPY', 'USD'].map((currency) =>
    writeSums(currency, totals.currencies.get(currency) ?? noSums()),
  );
  return `${buyers} buyers, seed ${seed}: ${events} events in ${deliveries} deliveries, ${seconds} s.
${payments} payments: ${outcomes.license} with a license, ${outcomes.attention} that need attention, ${outcomes.ignored} ignored.
${money.join('\n')}
${licenses} licenses. Differences from the books: ${result.differences.length}.
`;
}

function writeSums(currency: string, sums: Readonly<Sums>): string {
  const unit = Object.values(MARKETS).find((market) => market.currency === currency)?.unit;
  const write = (amount: number): string => writeAmount(amount, unit === 1 ? 0 : 2);
  const { gross, tax, refunds, disputes, payments } = sums;
  return `${currency}: ${payments} payments of ${write(gross)}, with ${write(tax)} tax; ${write(refunds)} refunded, ${write(disputes)} disputed.`;
}
