import { createGumroadApi } from '../../server/src/features/billing/providers/gumroad/gumroad-api.ts';
import { openTestService, type TestService } from '../../server/test/harness.ts';
import { openGumroadApiStub } from '../../server/test/payment-providers/gumroad-sales.ts';
import { runDueJobs } from '../../server/test/run-due-jobs.ts';
import { testCatalog } from '../../server/test/test-catalog.ts';
import { createTestClock } from '../../server/test/test-clock.ts';
import { auditYear, type Year, type YearReport } from './audit-year.ts';
import { CATALOG } from './catalog.ts';
import { deliverYear, writeEvents } from './deliver-year.ts';
import { GumroadShop } from './gumroad-shop.ts';
import { toDay, YEAR_START } from './happenings.ts';
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

/** A year that was delivered to a service. */
interface SimulatedYear extends Year {
  readonly service: TestService;
  readonly deliveries: number;
  readonly milliseconds: number;
}

/**
 * Simulates a year of a shop: its buyers buy, renew, change, cancel, pause, and get their money back; the events of their providers
 * arrive late, twice and out of order at a real service. Then the books of the shop are compared with the database.
 */
export async function runYear(options: YearOptions): Promise<YearResult> {
  await using resources = new AsyncDisposableStack();
  const year = await simulateYear(options, resources);
  const report = await auditYear(year.service, year);
  const { events, deliveries, milliseconds } = year;
  return { ...report, events: events.length, deliveries, milliseconds };
}

/** Simulates a year without comparing anything. @param resources closes the service */
export async function simulateYear(
  { buyers, seed }: YearOptions,
  resources: AsyncDisposableStack,
): Promise<SimulatedYear> {
  const random = createRandom(seed);
  const lives = Array.from({ length: buyers }, (_, index) => live(index + 1, random));
  const happenings = lives.flatMap((each) => each.happenings);
  const gumroad = await openGumroadApiStub(GUMROAD_TOKEN, resources);
  const shop = new GumroadShop(happenings);
  const service = await openService(gumroad.url, shop, resources);
  const startedAt = performance.now();
  const sent = await deliverYear(service, writeEvents(happenings), {
    random,
    onDay: (day) => shop.advance(gumroad, day),
    settle: () => runDueJobs(service.context),
  });
  const milliseconds = Math.round(performance.now() - startedAt);
  return {
    ...sent,
    service,
    accounts: lives.map(({ account }) => account),
    happenings: shop.toReported(happenings),
    milliseconds,
  };
}

const GUMROAD_TOKEN = 'the token of a simulated shop';

function openService(
  gumroadUrl: string,
  shop: GumroadShop,
  resources: AsyncDisposableStack,
): Promise<TestService> {
  const clock = createTestClock(YEAR_START);
  const webhooks = Object.fromEntries(
    Object.entries(SECRETS).map(([provider, secret]) => [provider, [secret]]),
  );
  const api = createGumroadApi({ url: gumroadUrl, accessToken: GUMROAD_TOKEN, clock });
  const gumroadApi = shop.observe(api, () => toDay(clock.now()));
  return openTestService({ catalog: testCatalog(CATALOG), clock, webhooks, gumroadApi }, resources);
}
