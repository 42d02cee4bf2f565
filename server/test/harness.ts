import { after } from 'node:test';

import type { Pool } from 'pg';

import { buildApp } from '#server/app.ts';
import type { Catalog } from '#server/config/catalog.ts';
import { readConfiguration } from '#server/config/load.ts';
import type { Secrets } from '#server/config/secrets.ts';
import { lacksMigrations } from '#server/db/migrate.ts';
import { createPool } from '#server/db/pool.ts';
import { countBacklog } from '#server/features/health/count-backlog.ts';
import {
  issueLicense,
  type IssuedLicense,
  type NewLicense,
} from '#server/features/licenses/issue.ts';
import { PasswordHasher, type PasswordCost } from '#server/features/operators/passwords.ts';
import type { OutreachLimits } from '#server/features/outreach/outreach-limiter.ts';
import type { GumroadApi } from '#server/features/billing/providers/gumroad/gumroad-api.ts';
import type { PaddleApi } from '#server/features/billing/providers/paddle/paddle-api.ts';
import type { StripeApi } from '#server/features/billing/providers/stripe/stripe-api.ts';
import { prepareToClose } from '#server/http/connections.ts';
import { observeRequests } from '#server/http/observe-requests.ts';
import { createLog } from '#server/log.ts';
import type { MailTransport } from '#server/mail/mail-transport.ts';
import { createContext, loadSigningKeys, type Context } from '#server/context.ts';
import { createMetrics } from '#server/metrics.ts';

import { requireAuditEntryLast } from './audit-log.ts';
import { createTestDatabase, TEST_CONNECT_TIMEOUT_MS, type TestDatabase } from './database.ts';
import { createHttpClient, type HttpClient } from './http-client.ts';
import { ALLOW_LOCAL_RECEIVERS } from './webhook-receiver.ts';
import { testCatalog } from './test-catalog.ts';
import { createTestClock, type TestClock } from './test-clock.ts';

/** A password of a test service costs less than one of a service, which takes 88 ms. */
export const TEST_PASSWORD_COST: PasswordCost = { memoryKib: 256, passes: 1 };

/** The issuer of the entitlements of a test service. */
export const TEST_ISSUER = 'https://license.example.com';

export const TEST_MASTER_SECRET = 'a master secret for the tests alone';

/** The webhook secrets of a test service. */
export const TEST_WEBHOOK_SECRETS = {
  paddle: ['pdl_ntfset_for_the_tests_alone'],
  stripe: ['whsec_for_the_tests_alone'],
  lemonsqueezy: ['a lemon squeezy secret for the tests'],
  polar: ['whsec_a polar secret for the tests'],
  dodo: [`whsec_${Buffer.from('a dodo secret for the tests').toString('base64')}`],
  creem: ['whsec_a creem secret for the tests'],
  fastspring: ['a fastspring secret for the tests'],
  gumroad: ['a-gumroad-secret-for-the-tests'],
  standard: [`whsec_${Buffer.from('a standard secret for the tests').toString('base64')}`],
} satisfies Secrets['webhooks'];

/** Times and flags of a license that no operation of the interface sets. */
export type LicenseFactsChange = Partial<
  Record<
    | 'expires_at'
    | 'updates_until'
    | 'cancel_scheduled_for'
    | 'canceled_at'
    | 'paused_at'
    | 'suspended_at'
    | 'refunded_at'
    | 'revoked_at'
    | 'created_at'
    | 'reveal_until',
    Date | null
  >
> & { readonly subscription?: boolean; readonly is_test?: boolean };

/** The license to issue; default: a perpetual license of the product `personal` for two machines. */
export interface TestOrder extends Omit<NewLicense, 'product'> {
  readonly productId?: string;
  readonly facts?: LicenseFactsChange;
}

export interface TestServiceOptions {
  /** Simulates a second process of this service: another context with the same database and clock. */
  readonly beside?: TestService;
  /** Default: a new one. */
  readonly clock?: TestClock;
  readonly catalog?: Catalog;
  readonly poolSize?: number;
  readonly masterSecret?: string;
  readonly previousSecrets?: readonly string[];
  readonly outreachApiKey?: string;
  readonly metricsToken?: string;
  readonly oidcClientSecret?: string;
  readonly webhooks?: Partial<Secrets['webhooks']>;
  readonly mail?: MailTransport | null;
  readonly outreachMail?: MailTransport | null;
  /** Settings of the environment; default: the defaults of the service. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly outreachLimits?: Partial<OutreachLimits>;
  /** The sender of mail. */
  readonly mailFrom?: string;
  readonly paddleApi?: PaddleApi | null;
  readonly gumroadApi?: GumroadApi | null;
  readonly stripeApi?: StripeApi | null;
  readonly storageQuotaMib?: number;
  readonly isDiskLow?: () => boolean;
  /** Default: {@link TEST_PASSWORD_COST}. */
  readonly passwordCost?: PasswordCost;
}

/** A complete service in this process, with its own database. */
export interface TestService extends HttpClient {
  readonly url: string;
  readonly context: Context;
  readonly pool: Pool;
  readonly clock: TestClock;
  readonly database: TestDatabase;
  /** The logged lines. */
  readonly log: readonly string[];
  /** Replaces the catalogue. */
  useCatalog(catalog: Catalog): void;
  issue(order?: TestOrder): Promise<IssuedLicense>;
  setFacts(licenseId: string, facts: LicenseFactsChange): Promise<void>;
  /** Returns the number of rows of a table. */
  count(table: string): Promise<number>;
}

/**
 * Starts the service like `latchkey serve`, except for its clock, on a free port; it ends with the test file (or the
 * suite) that starts it. All log levels are enabled.
 */
export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const resources = new AsyncDisposableStack();
  after(() => resources.disposeAsync());
  return openTestService(options, resources);
}

/**
 * Starts the service for a program that is not a test.
 * @param resources closes it in reverse order, also when a later step fails
 */
export async function openTestService(
  options: TestServiceOptions,
  resources: AsyncDisposableStack,
): Promise<TestService> {
  const { beside } = options;
  const database = beside?.database ?? (await createTestDatabase());
  if (beside === undefined) resources.defer(() => database.drop());
  const clock = beside?.clock ?? options.clock ?? createTestClock();
  const log: string[] = [];
  const { context, useCatalog } = createTestContext(options, database, clock, log);
  resources.defer(() => context.pool.end());
  await loadSigningKeys(context);
  const app = buildApp(context, {
    publicUrl: context.config.http.publicUrl,
    trustedProxies: context.config.http.trustedProxies,
    log: context.log,
    state: () => 'ready',
    health: {
      clock,
      startedAt: clock.now(),
      version: '1.0.0',
      log: context.log,
      pingDatabase: async () => void (await context.pool.query('select 1')),
      migrationsPending: () => lacksMigrations(context.pool),
      readBacklog: () => countBacklog(context),
      isDiskLow: context.storage.isDiskLow,
      isDraining: () => false,
    },
    prepare: (instance) =>
      observeRequests(instance, { log: context.log, metrics: context.metrics }),
  });
  resources.defer(prepareToClose(app));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return {
    ...createHttpClient(url),
    ...createDatabaseHelpers(context),
    url,
    context,
    pool: context.pool,
    clock,
    database,
    log,
    useCatalog,
  };
}

function createTestContext(
  options: TestServiceOptions,
  database: TestDatabase,
  clock: TestClock,
  lines: string[],
): { context: Context; useCatalog: (catalog: Catalog) => void } {
  const settings = {
    LATCHKEY_PUBLIC_URL: TEST_ISSUER,
    ...ALLOW_LOCAL_RECEIVERS,
    ...options.settings,
  };
  const { config } = readConfiguration(settings, import.meta.dirname);
  const log = createLog({
    level: 'trace',
    destination: { write: (line) => void lines.push(line) },
  });
  const { poolSize = config.database.poolSize, masterSecret = TEST_MASTER_SECRET } = options;
  let catalog = options.catalog ?? testCatalog();
  const pool = createPool(database.connection, {
    maxConnections: poolSize,
    log,
    connectTimeoutMs: TEST_CONNECT_TIMEOUT_MS,
  });
  requireAuditEntryLast(pool);
  const context = createContext({
    config: {
      ...config,
      database: { ...config.database, poolSize },
      storage: { quotaMib: options.storageQuotaMib ?? config.storage.quotaMib },
      mail: { ...config.mail, from: options.mailFrom ?? null },
    },
    secrets: {
      master: masterSecret,
      previousMasters: options.previousSecrets ?? [],
      outreachApiKey: options.outreachApiKey ?? null,
      metricsToken: options.metricsToken ?? null,
      oidcClientSecret: options.oidcClientSecret ?? null,
      webhooks: { ...TEST_WEBHOOK_SECRETS, ...options.webhooks },
    },
    catalog: () => catalog,
    clock,
    // Simulates a database with the same clock.
    readDatabaseTime: async () => clock.now(),
    log,
    mail: options.mail ?? null,
    outreachMail: options.outreachMail ?? null,
    outreachLimits: options.outreachLimits ?? {},
    ...readApis(options),
    passwords: createHasher(options),
    isDiskLow: options.isDiskLow ?? (() => false),
    metrics: createMetrics({ version: 'test' }),
    pool,
  });
  return {
    context,
    useCatalog: (next) => {
      catalog = next;
    },
  };
}

function readApis({ paddleApi = null, gumroadApi = null, stripeApi = null }: TestServiceOptions) {
  return { paddleApi, gumroadApi, stripeApi };
}

function createHasher({ passwordCost = TEST_PASSWORD_COST }: TestServiceOptions): PasswordHasher {
  return new PasswordHasher(passwordCost);
}

function createDatabaseHelpers(
  context: Context,
): Pick<TestService, 'issue' | 'setFacts' | 'count'> {
  async function setFacts(licenseId: string, facts: LicenseFactsChange): Promise<void> {
    const names = Object.keys(facts);
    const assignments = names.map((name, index) => `${name} = $${index + 2}`).join(', ');
    const values = [licenseId, ...Object.values(facts)];
    await context.pool.query(`update licenses set ${assignments} where id = $1`, values);
  }
  return {
    setFacts,
    async issue({ productId = 'personal', facts, ...order } = {}) {
      const product = context.catalog().products.get(productId);
      if (product === undefined) throw new Error(`the test catalogue has no ${productId}`);
      const issued = await issueLicense(
        context,
        { product, ...order },
        'test',
        'requested by a test',
      );
      if (facts !== undefined) await setFacts(issued.license.id, facts);
      return issued;
    },
    async count(table) {
      const { rows } = await context.pool.query<{ count: number }>(`select count(*) from ${table}`);
      return rows[0]?.count ?? 0;
    },
  };
}
