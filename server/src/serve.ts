import type { Pool } from 'pg';

import { buildApp } from './app.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';
import { openLiveCatalog } from './config/live-catalog.ts';
import type { LoadedConfiguration } from './config/load.ts';
import type { Context } from './context.ts';
import { lacksMigrations, migrate } from './db/migrate.ts';
import { openDatabase } from './db/open-database.ts';
import { sendQuery } from './db/send-query.ts';
import { createHousekeeping } from './features/analytics/run-housekeeping.ts';
import { startOutgoingWebhooks } from './features/outgoing-webhooks/run-outgoing-webhooks.ts';
import { beginOutreachUpkeep } from './features/outreach/delete-old-outreach.ts';
import { beginToForgetOld } from './features/subscribers/forget-old.ts';
import { CONCURRENT_MESSAGES } from './features/outreach/deliver-messages.ts';
import type { App } from './http/app-instance.ts';
import { prepareToClose } from './http/close-gracefully.ts';
import { explainListenFailure, requireFreePort, type ListenAddress } from './http/listen.ts';
import { startMetricsListener, type MetricsListener } from './http/metrics-endpoint.ts';
import { observeRequests } from './http/observe-requests.ts';
import type { ServiceState } from './http/service-state.ts';
import { openPaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import { startQueueing } from './features/billing/key-emails/queue-waiting.ts';
import { beginRecurringJobs } from './features/billing/recurring-jobs.ts';
import { countBacklog } from './jobs/count-backlog.ts';
import { startJobs, type RunningJobs } from './jobs/run-jobs.ts';
import { createTasks } from './jobs/tasks.ts';
import { version } from './lib/version.ts';
import { createLog, type Logger } from './log.ts';
import { loadSigningKeys, makeContext } from './make-context.ts';
import { createMailTransport } from './mail/smtp-transport.ts';
import { createMetrics, type PoolNumbers } from './metrics.ts';

/** A service that takes requests. */
export interface RunningService {
  /** Where it listens. */
  readonly url: string;
  readonly log: Logger;
  /** Reads the catalogue and the signing keys again. */
  reload(): Promise<void>;
  /** Finishes what is under way, then lets go of everything. */
  stop(): Promise<void>;
}

/** Another process may rotate the signing keys; a new key is published longer than this before it signs. */
const KEY_REFRESH_INTERVAL_MS = 60_000;

/**
 * Starts the service: database, migrations, signing keys, then the port.
 * @throws StartupError with one clear sentence for each thing that is wrong
 */
export async function startService(configuration: LoadedConfiguration): Promise<RunningService> {
  const { config, secrets, warnings } = configuration;
  const log = createLog(config.log);
  for (const warning of warnings) log.warn(warning);
  const catalog = openLiveCatalog(config.catalogPath, log);
  const metricsAddress = findMetricsAddress(config);
  await requireFreePort(serviceAddress(config));
  if (metricsAddress !== null) await requireFreePort(metricsAddress);

  // Whatever was opened is closed again, the newest first: when a later step fails, and at the end.
  await using resources = new AsyncDisposableStack();
  const database = await openDatabase(config, secrets, log);
  resources.defer(() => database.close());
  const { pool } = database;
  await bringUpToDate(pool, log);

  const metrics = createMetrics({ version });
  const mail = createMailTransport(config, secrets);
  const outreachMail = createMailTransport(config, secrets, CONCURRENT_MESSAGES);
  resources.defer(() => {
    mail?.close();
    outreachMail?.close();
  });
  const paddleApi = openPaddleApi(config, secrets, systemClock);
  const parts = { config, secrets, clock: systemClock, log, metrics, pool, mail, outreachMail };
  const ctx = makeContext({ ...parts, paddleApi, catalog: () => catalog.current() });
  await loadSigningKeys(ctx);
  const webhooks = startOutgoingWebhooks(ctx);
  resources.defer(() => webhooks.stop());
  const housekeeping = createHousekeeping(ctx);
  // Before the application, which stops first: what its last requests drop is counted.
  resources.defer(() => housekeeping.stop());
  const refreshing = setInterval(() => void refreshSigningKeys(ctx), KEY_REFRESH_INTERVAL_MS);
  resources.defer(() => clearInterval(refreshing));
  metrics.setDatabasePool(() => readPoolNumbers(pool));
  const jobs = await openJobs(ctx);
  resources.defer(() => jobs.stop());
  if (metricsAddress !== null) {
    const listener = await listenForMetrics(ctx, metricsAddress);
    resources.defer(() => listener.close());
  }

  let state: ServiceState = 'ready';
  const app = assembleApp(ctx, jobs, () => state);
  resources.defer(prepareToClose(app));
  resources.defer(() => ctx.outreach.stop());
  const url = await listen(app, serviceAddress(config));
  const queueing = startQueueing(ctx);
  resources.defer(() => queueing.stop());

  housekeeping.start();

  const kept = resources.move();
  return {
    url,
    log,
    async reload() {
      catalog.reload();
      await refreshSigningKeys(ctx);
    },
    async stop() {
      state = 'draining';
      await kept.disposeAsync();
    },
  };
}

async function bringUpToDate(pool: Pool, log: Logger): Promise<void> {
  const applied = await migrate(pool);
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated');
}

async function openJobs(ctx: Context): Promise<RunningJobs> {
  const { log, metrics, pool } = ctx;
  await beginRecurringJobs(ctx);
  await beginToForgetOld(ctx);
  await beginOutreachUpkeep(ctx);
  const jobs = startJobs({
    pool,
    log,
    metrics,
    tasks: createTasks(ctx),
    countBacklog: () => countBacklog(ctx),
  });
  metrics.setBacklog(() => jobs.backlog());
  return jobs;
}

function assembleApp(
  ctx: Context,
  jobs: Pick<RunningJobs, 'backlog'>,
  state: () => ServiceState,
): App {
  const { config, clock, log, metrics, pool } = ctx;
  return buildApp(ctx, {
    publicUrl: config.http.publicUrl,
    trustedProxies: config.http.trustedProxies,
    log,
    state,
    health: {
      clock,
      startedAt: clock.now(),
      version,
      log,
      pingDatabase: async () => void (await sendQuery(pool, { text: 'select 1' })),
      migrationsPending: () => lacksMigrations(pool),
      readBacklog: async () => jobs.backlog() ?? countBacklog(ctx),
      isDraining: () => state() === 'draining',
    },
    prepare: (app) => observeRequests(app, { log, metrics }),
  });
}

async function listen(app: App, address: ListenAddress): Promise<string> {
  try {
    return await app.listen({ host: address.host, port: address.port });
  } catch (error) {
    throw explainListenFailure(error, address);
  }
}

async function listenForMetrics(
  { metrics, log }: Pick<Context, 'log' | 'metrics'>,
  address: ListenAddress,
): Promise<MetricsListener> {
  try {
    const listener = await startMetricsListener(metrics, address, log);
    log.info({ host: address.host, port: listener.port }, 'metrics are served');
    return listener;
  } catch (error) {
    throw explainListenFailure(error, address);
  }
}

function serviceAddress({ http: { host, port } }: Config): ListenAddress {
  return { host, port, hostSetting: 'LATCHKEY_HOST', portSetting: 'LATCHKEY_PORT' };
}

function findMetricsAddress({ metrics: { host, port } }: Config): ListenAddress | null {
  if (port === null) return null;
  return {
    host,
    port,
    hostSetting: 'LATCHKEY_METRICS_HOST',
    portSetting: 'LATCHKEY_METRICS_PORT',
  };
}

function readPoolNumbers(pool: Pool): PoolNumbers {
  return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

/** The keys in memory serve on when the database cannot be asked for new ones. */
async function refreshSigningKeys(ctx: Context): Promise<void> {
  try {
    await ctx.signingKeys.refresh();
  } catch (error) {
    ctx.log.warn({ err: error }, 'the signing keys could not be read again');
  }
}
