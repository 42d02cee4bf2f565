import type { Pool } from 'pg';

import type { Clock } from './clock.ts';
import type { Catalog } from './config/catalog.ts';
import type { Config } from './config/config.ts';
import type { DescribedSetting } from './config/describe-settings.ts';
import type { Secrets } from './config/secrets.ts';
import { isDatabaseUnresponsive, isLockTimeout } from './db/database-errors.ts';
import { readDatabaseTime } from './db/database-time.ts';
import { ReportReader } from './db/replica/report-reader.ts';
import type { Queryable } from './db/statement.ts';
import { createEventQueue } from './features/analytics/event-queue.ts';
import { EventCounts } from './features/analytics/event-counts.ts';
import { createNameFilter } from './features/analytics/rules/select-events.ts';
import { readConfiguredKeys } from './features/api-keys/authenticate.ts';
import type { GumroadApi } from './features/billing/providers/gumroad/gumroad-api.ts';
import type { PaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import type { StripeApi } from './features/billing/providers/stripe/stripe-api.ts';
import { createPaymentEventBatch } from './features/billing/payment-event-batch.ts';
import { BuyerLimits } from './features/buyers/limits.ts';
import { SigningKeyRing } from './features/entitlements/key-ring.ts';
import { ensureSigningKey } from './features/entitlements/rotate-signing-key.ts';
import { LicenseActivity } from './features/licenses/activity.ts';
import { createLicenseBatches } from './features/licenses/batches.ts';
import { CheckLimiter } from './features/licenses/check-limiter.ts';
import { GuessLimiter } from './features/licenses/guess-limiter.ts';
import { OutreachLimiter, type OutreachLimits } from './features/outreach/outreach-limiter.ts';
import { WebhookClient } from './features/outgoing-webhooks/webhook-client.ts';
import { EventSubscriptions } from './features/outgoing-webhooks/event-subscriptions.ts';
import { PasswordHasher } from './features/operators/passwords.ts';
import { ProviderClient } from './features/operators/provider.ts';
import { SignInLimiter } from './features/operators/sign-in-limiter.ts';
import { createTrialBatch } from './features/trials/grant-trials.ts';
import { createHeartbeatQueue } from './features/usage/record-heartbeat.ts';
import { ConcurrencyLimiter } from './lib/concurrency-limiter.ts';
import { LocalCounters, type Counters } from './lib/counters.ts';
import { TaskStatuses } from './jobs/task-statuses.ts';
import { createVault, type Vault } from './lib/vault.ts';
import type { Logger } from './log.ts';
import { StorageQuota } from './lib/storage-quota.ts';
import type { MailTransport } from './mail/mail-transport.ts';
import type { Metrics } from './metrics.ts';

/**
 * The dependencies of all use cases: the composition root. Each feature declares what it needs of it.
 */
export type Context = ReturnType<typeof createContext>;

export interface ContextOptions {
  readonly config: Config;
  readonly secrets: Pick<
    Secrets,
    'master' | 'previousMasters' | 'outreachApiKey' | 'metricsToken' | 'webhooks'
  > &
    Partial<
      Pick<
        Secrets,
        'smtpUrl' | 'paddleApiKey' | 'oidcClientSecret' | 'databaseUrl' | 'replicaUrl' | 'redisUrl'
      >
    >;
  /** The settings in effect, as operators see them. Default: none. */
  readonly settings?: readonly DescribedSetting[];
  /** Settings without effect. Default: none. */
  readonly warnings?: readonly string[];
  /** Returns the current catalogue, which is read again on SIGHUP. */
  readonly catalog: () => Catalog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pool: Pool;
  /** For reports. Null: none is configured. Default: null. */
  readonly replica?: Pool | null;
  /** Default: the clock of the database server. */
  readonly readDatabaseTime?: (db: Queryable) => Promise<Date>;
  /** Null: no mail is configured. Default: null. */
  readonly mail?: MailTransport | null;
  /** The same relay over other connections, so that bulk mail delays no key. Default: null. */
  readonly outreachMail?: MailTransport | null;
  /** Default: the limits of a service. */
  readonly outreachLimits?: Partial<OutreachLimits>;
  /** Default: never, because the disk of an external database belongs to another machine. */
  readonly isDiskLow?: () => boolean;
  /** Null: no API key of Paddle is configured. Default: null. */
  readonly paddleApi?: PaddleApi | null;
  /** Null: no access token of Gumroad is configured. Default: null. */
  readonly gumroadApi?: GumroadApi | null;
  /** Null: no API key of Stripe is configured. Default: null. */
  readonly stripeApi?: StripeApi | null;
  /** The counters of limits that this process shares with others; null: it counts alone. Default: null. */
  readonly sharedCounters?: Counters | null;
  /** Default: with the cost of a service. */
  readonly passwords?: PasswordHasher;
}

/**
 * Batches that run at the same time: two each of validations and events, and one each of their records, sold terms,
 * lookups, checks, trials, webhooks and heartbeats. The database limiter reserves these connections for them; in a pool
 * that is too small for that, it admits one call at a time.
 */
const CONNECTIONS_FOR_BATCHES = 11;

/** At one or two milliseconds each, the last call waits for less than a second. */
const MAX_QUEUED_FOR_DATABASE = 1_000;

const MAX_QUEUED_FOR_LICENSES = 2_000;
const MAX_CALLS_FOR_ONE_LICENSE = 100;

const MAX_CONCURRENT_LOOK_UPS = 256;
const MAX_QUEUED_LOOK_UPS = 2_000;
const MAX_LOOK_UPS_OF_ONE_NETWORK = 500;

/** Creates a context. Reads nothing: see {@link loadSigningKeys}. */
export function createContext(options: ContextOptions) {
  const { config, secrets, catalog, clock, log, metrics, pool } = options;
  const vault = createVault(secrets.master, secrets.previousMasters);
  const signingKeys = new SigningKeyRing({ pool, clock, vault, log });
  const limiters = createLimiters(config, pool);
  const counters = options.sharedCounters ?? new LocalCounters();
  const outreach = new OutreachLimiter(options.outreachLimits);
  metrics.setQueueDepth('database', () => limiters.databaseLimiter.queued);
  metrics.setQueueDepth('activations', () => limiters.licenseLimiter.queued);
  metrics.setQueueDepth('key_lookups', () => limiters.lookUpLimiter.queued);
  metrics.setQueueDepth('outreach', () => outreach.queued);
  const eventSubscriptions = new EventSubscriptions(clock);
  return {
    config,
    catalog,
    clock,
    readDatabaseTime: options.readDatabaseTime ?? readDatabaseTime,
    log,
    metrics,
    vault,
    pool,
    replica: options.replica ?? null,
    reports: createReportReader(options),
    signingKeys,
    configuredApiKeys: readConfiguredKeys(secrets),
    webhookSecrets: secrets.webhooks,
    mail: options.mail ?? null,
    outreachMail: options.outreachMail ?? null,
    outreach,
    paddleApi: options.paddleApi ?? null,
    gumroadApi: options.gumroadApi ?? null,
    stripeApi: options.stripeApi ?? null,
    batches: createBatches(options, { vault, signingKeys, eventSubscriptions }),
    ...limiters,
    licenseActivity: new LicenseActivity(clock),
    passwords: options.passwords ?? new PasswordHasher(),
    counters,
    signIns: new SignInLimiter(clock, counters),
    buyerLimits: new BuyerLimits(clock, counters),
    provider:
      config.operators.oidc === null
        ? null
        : new ProviderClient(config.operators.oidc, secrets.oidcClientSecret ?? null),
    guesses: new GuessLimiter(clock, counters),
    checkLimiter: new CheckLimiter(clock, counters),
    storage: {
      quota: new StorageQuota(config.storage.quotaMib * 1_048_576, options.sharedCounters),
      isDiskLow: options.isDiskLow ?? (() => false),
    },
    eventCounts: new EventCounts(clock, (outcome, count) => metrics.countEvents(outcome, count)),
    wantedNames: createNameFilter(config.events.names),
    taskStatuses: new TaskStatuses(clock),
    installation: describeInstallation(options),
    eventSubscriptions,
    webhookClient: new WebhookClient(config.outgoingWebhooks),
  };
}

/** The facts of the installation that operators see, and the doctor checks. */
/** The parts of a context that batches use. */
interface BatchParts {
  readonly vault: Vault;
  readonly signingKeys: SigningKeyRing;
  readonly eventSubscriptions: EventSubscriptions;
}

function createBatches(options: ContextOptions, parts: BatchParts) {
  const { catalog, clock, config, log, metrics, pool, stripeApi = null } = options;
  const { vault, eventSubscriptions } = parts;
  return {
    ...createLicenseBatches({ clock, pool }, metrics),
    trials: createTrialBatch({ catalog, clock, config, pool, ...parts }, metrics),
    paymentEvents: createPaymentEventBatch(
      { catalog, clock, config, log, pool, vault, eventSubscriptions, stripeApi },
      metrics,
    ),
    heartbeats: createHeartbeatQueue({ clock, pool }, metrics),
    events: createEventQueue({ clock, pool }, metrics),
  };
}

function describeInstallation({ secrets, settings = [], warnings = [] }: ContextOptions) {
  const { databaseUrl = null, replicaUrl = null, redisUrl = null } = secrets;
  const { smtpUrl = null, paddleApiKey = null } = secrets;
  return { settings, warnings, databaseUrl, replicaUrl, redisUrl, smtpUrl, paddleApiKey };
}

function createReportReader({ config, log, pool, replica = null }: ContextOptions): ReportReader {
  const maxLagMs = config.database.replicaMaxLagSeconds * 1_000;
  return new ReportReader({ primary: pool, replica, maxLagMs, log });
}

function createLimiters(config: Config, pool: Pool) {
  const limit = Math.max(1, config.database.poolSize - CONNECTIONS_FOR_BATCHES);
  const isSharedFailure = (error: unknown): Promise<boolean> => isDatabaseUnresponsive(pool, error);
  return {
    /** Calls that need a connection and do not go through a batch. */
    databaseLimiter: new ConcurrencyLimiter({
      limit,
      maxQueued: MAX_QUEUED_FOR_DATABASE,
      isSharedFailure,
    }),
    /** Changes of licenses, by the id of the license. */
    licenseLimiter: new ConcurrencyLimiter({
      limit,
      maxQueued: MAX_QUEUED_FOR_LICENSES,
      maxPerKey: MAX_CALLS_FOR_ONE_LICENSE,
      isSharedFailure,
      isKeyFailure: isLockTimeout,
    }),
    /** Look-ups of keys that a client's network has not used before, by network. */
    lookUpLimiter: new ConcurrencyLimiter({
      limit: MAX_CONCURRENT_LOOK_UPS,
      maxQueued: MAX_QUEUED_LOOK_UPS,
      maxPerKey: MAX_LOOK_UPS_OF_ONE_NETWORK,
      isSharedFailure,
    }),
  };
}

/** Reads the signing keys, and creates the first one in a new database. */
export async function loadSigningKeys(context: Context): Promise<void> {
  await ensureSigningKey(context);
  await context.signingKeys.refresh();
}
