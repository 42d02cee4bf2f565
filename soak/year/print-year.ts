import { runYear, type YearOptions, type YearResult } from './run-year.ts';

/** Simulates a year and prints what was found. @returns the exit code: 1 if the service differs from the books */
export async function printYear(options: YearOptions): Promise<number> {
  const result = await runYear(options);
  process.stdout.write(describe(options, result));
  for (const difference of result.differences) process.stdout.write(`${difference}\n`);
  return result.differences.length === 0 ? 0 : 1;
}

function describe({ buyers, seed }: YearOptions, result: YearResult): string {
  const { events, deliveries, milliseconds, payments, paid, outcomes, licenses } = result;
  const seconds = Math.round(milliseconds / 1_000);
  return `${buyers} buyers, seed ${seed}: ${events} events in ${deliveries} deliveries, ${seconds} s.
${payments} payments of ${(paid / 100).toFixed(2)}: ${outcomes.license} with a license, ${outcomes.attention} that need attention, ${outcomes.ignored} ignored.
${licenses} licenses. Differences from the books: ${result.differences.length}.
`;
}
