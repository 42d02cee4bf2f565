import { openTestService } from '../../server/test/harness.ts';
import { testCatalog } from '../../server/test/test-catalog.ts';
import { auditYear, type YearReport } from './audit-year.ts';
import { auditRevenue } from './audit-revenue.ts';
import { CATALOG } from './catalog.ts';
import { deliverYear, writeEvents } from './deliver-year.ts';
import { createTestClock } from '../../server/test/test-clock.ts';
import { YEAR_START } from './happenings.ts';
import { live } from './live.ts';
import { createRandom } from './rates.ts';
import { SECRETS } from './writers/delivery.ts';

/** The size of a simulated shop. */
export interface YearOptions {
  readonly buyers: number;
  /** The same seed leads to the same year. */
  readonly seed: number;
}

/** A report with the number of deliveries and their time. */
export interface YearResult extends YearReport {
  readonly events: number;
  readonly deliveries: number;
  readonly milliseconds: number;
}

/**
 * Simulates a year of a shop: its buyers buy, renew, change, cancel, pause, and get their money back; the events of their providers
 * arrive late, twice and out of order at a real service. Then the books of the shop are compared with the database.
 */
export async function runYear({ buyers, seed }: YearOptions): Promise<YearResult> {
  const random = createRandom(seed);
  const lives = Array.from({ length: buyers }, (_, index) => live(index + 1, random));
  const happenings = lives.flatMap((each) => each.happenings);
  const events = writeEvents(happenings);
  await using resources = new AsyncDisposableStack();
  const webhooks = Object.fromEntries(
    Object.entries(SECRETS).map(([provider, secret]) => [provider, [secret]]),
  );
  const service = await openTestService(
    { catalog: testCatalog(CATALOG), clock: createTestClock(YEAR_START), webhooks },
    resources,
  );
  const startedAt = performance.now();
  const answers = await deliverYear(service, events, random);
  const milliseconds = Math.round(performance.now() - startedAt);
  const accounts = lives.map(({ account }) => account);
  const report = await auditYear(service.pool, accounts, events);
  const differences = [...report.differences, ...(await auditRevenue(service, happenings))];
  const deliveries = [...answers.values()].reduce((sum, count) => sum + count, 0);
  return { ...report, differences, events: events.length, deliveries, milliseconds };
}
