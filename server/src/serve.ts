import type { Pool } from 'pg';

import { buildApp } from './app.ts';
import { createBackground } from './background.ts';
import { systemClock } from './clock.ts';
import { openLiveCatalog } from './config/catalog.ts';
import type { LoadedConfiguration } from './config/load.ts';
import { lacksMigrations, migrate } from './db/migrate.ts';
import { chooseAccount } from './db/embedded/account.ts';
import { DiskSpace } from './db/embedded/disk-space.ts';
import { openDatabase } from './db/open-database.ts';
import { sendQuery } from './db/send-query.ts';
import { openPaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import { createFirstLink, logMissingOperator } from './features/operators/first-operator.ts';
import { BacklogCounter } from './features/health/count-backlog.ts';
import { CONCURRENT_MESSAGES } from './features/outreach/deliver-messages.ts';
import { dropPrivileges, loadDeferredModules } from './drop-privileges.ts';
import type { App } from './http/app-instance.ts';
import { prepareToClose } from './http/connections.ts';
import { listen, listenForMetrics, requireFreePorts } from './http/listen.ts';
import { observeRequests } from './http/observe-requests.ts';
import type { ServiceState } from './http/service-state.ts';
import { version } from './lib/version.ts';
import { createLog, isReadByPeople, type Logger } from './log.ts';
import { createMailTransport } from './mail/smtp-transport.ts';
import { createContext, loadSigningKeys, type Context } from './context.ts';
import { createMetrics } from './metrics.ts';

export interface RunningService {
  readonly url: string;
  readonly log: Logger;
  /** Creates a link with which its reader becomes the first operator; null if there is an operator. */
  createFirstLink(): Promise<string | null>;
  /** Reads the catalogue and the signing keys again. */
  reload(): Promise<void>;
  /** Completes requests and jobs in progress, then closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts the service, in this order: catalogue, database with its migrations, dependencies of the features
 * (`context.ts`), background work (`background.ts`), HTTP application (`app.ts`), port.
 * @throws StartupError with a sentence for each problem
 */
export async function startService(configuration: LoadedConfiguration): Promise<RunningService> {
  const { config, secrets, settings, warnings } = configuration;
  const log = createLog(config.log);
  for (const warning of warnings) log.warn({ event: 'configuration.warning' }, warning);
  const catalog = openLiveCatalog(config.catalogPath, log);
  await requireFreePorts(config);

  // Closed in reverse order, when a later step fails and in stop().
  await using resources = new AsyncDisposableStack();
  const database = await openDatabase(config, secrets, log, true);
  resources.defer(() => database.close());
  const { pool } = database;
  const disk = database.directory === null ? null : new DiskSpace(database.directory, log);
  const isDiskLow = (): boolean => disk?.isLow ?? false;
  await migrateDatabase(pool, log);

  const metrics = createMetrics({ version });
  const mail = createMailTransport(config, secrets);
  const outreachMail = createMailTransport(config, secrets, CONCURRENT_MESSAGES);
  resources.defer(() => {
    mail?.close();
    outreachMail?.close();
  });
  const paddleApi = openPaddleApi(config, secrets, systemClock);
  const parts = { config, secrets, clock: systemClock, log, metrics, pool, mail, outreachMail };
  const context = createContext({
    ...parts,
    settings,
    warnings,
    paddleApi,
    isDiskLow,
    catalog: () => catalog.current(),
  });
  await loadSigningKeys(context);
  metrics.setDatabasePool(pool);
  const backlog = new BacklogCounter(context);
  metrics.setBacklog(() => backlog.last);
  const background = await createBackground(context, backlog, disk);
  // The application stops first, so that events that its last requests drop are still counted.
  resources.defer(() => background.stop());
  const metricsListener = await listenForMetrics(config, metrics, log);
  resources.defer(async () => metricsListener?.close());

  let state: ServiceState = 'ready';
  const app = assembleApp(context, backlog, () => state);
  resources.defer(prepareToClose(app));
  resources.defer(() => context.outreach.stop());
  const account = database.account ?? (await chooseAccount(config.database.account, null));
  if (account !== null) await loadDeferredModules(config);
  const url = await listen(app, config);
  if (account !== null) dropPrivileges(account, log);
  background.start();
  if (!isReadByPeople()) await logMissingOperator(context);

  const kept = resources.move();
  return {
    url,
    log,
    async createFirstLink() {
      return (await createFirstLink(context))?.url ?? null;
    },
    async reload() {
      catalog.reload();
      await reloadSigningKeys(context);
    },
    async stop() {
      state = 'draining';
      await kept.disposeAsync();
    },
  };
}

async function migrateDatabase(pool: Pool, log: Logger): Promise<void> {
  const applied = await migrate(pool);
  if (applied.length > 0)
    log.info({ event: 'database.migrated', migrations: applied }, 'migrated the database');
}

function assembleApp(context: Context, backlog: BacklogCounter, state: () => ServiceState): App {
  const { config, clock, log, metrics, pool } = context;
  return buildApp(context, {
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
      readBacklog: () => backlog.read(),
      isDraining: () => state() === 'draining',
      isDiskLow: context.storage.isDiskLow,
    },
    prepare: (app) => observeRequests(app, { log, metrics }),
  });
}

async function reloadSigningKeys(context: Context): Promise<void> {
  try {
    await context.signingKeys.refresh();
  } catch (error) {
    const fields = { event: 'signing_keys.refresh_failed', err: error };
    context.log.warn(fields, 'could not refresh the signing keys; those in memory stay in use');
  }
}
