import type { Pool } from 'pg';

import { buildApp } from './app.ts';
import { systemClock } from './clock.ts';
import { openLiveCatalog } from './config/live-catalog.ts';
import type { LoadedConfiguration } from './config/load.ts';
import type { Context } from './context.ts';
import { lacksMigrations, migrate } from './db/migrate.ts';
import { chooseAccount } from './db/embedded/account.ts';
import { DiskSpace } from './db/embedded/disk-space.ts';
import { openDatabase, type OpenDatabase } from './db/open-database.ts';
import { sendQuery } from './db/send-query.ts';
import { createHousekeeping } from './features/analytics/run-housekeeping.ts';
import { releaseHeldEmails } from './features/billing/key-emails/release-held-emails.ts';
import { openPaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import { beginRecurringJobs } from './features/billing/recurring-jobs.ts';
import { startOutgoingWebhooks } from './features/outgoing-webhooks/run-outgoing-webhooks.ts';
import { scheduleBodyRemoval } from './features/billing/remove-old-bodies.ts';
import { beginOutreachUpkeep } from './features/outreach/delete-old-outreach.ts';
import { CONCURRENT_MESSAGES } from './features/outreach/deliver-messages.ts';
import { beginToForgetOld } from './features/subscribers/forget-old.ts';
import { giveUpRoot, loadDeferredModules } from './give-up-root.ts';
import type { App } from './http/app-instance.ts';
import { prepareToClose } from './http/close-gracefully.ts';
import { observeRequests } from './http/observe-requests.ts';
import type { ServiceState } from './http/service-state.ts';
import { countBacklog } from './jobs/count-backlog.ts';
import { startJobs, type RunningJobs } from './jobs/run-jobs.ts';
import { createTasks } from './jobs/tasks.ts';
import { version } from './lib/version.ts';
import { createLog, type Logger } from './log.ts';
import { createMailTransport } from './mail/smtp-transport.ts';
import { loadSigningKeys, makeContext } from './make-context.ts';
import { createMetrics, type PoolNumbers } from './metrics.ts';
import { listen, listenForMetrics, requireFreePorts } from './ports.ts';

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

/** Another process may rotate the signing keys. A new key is published for longer than this before it signs. */
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
  await requireFreePorts(config);

  // Whatever was opened is closed again, newest first, both when a later step fails and at the end.
  await using resources = new AsyncDisposableStack();
  const database = await openDatabase(config, secrets, log, true);
  resources.defer(() => database.close());
  const { pool } = database;
  const disk = await watchDisk(database, log);
  resources.defer(() => disk?.stop());
  const isDiskLow = (): boolean => disk?.isLow ?? false;
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
  const ctx = makeContext({ ...parts, paddleApi, isDiskLow, catalog: () => catalog.current() });
  await loadSigningKeys(ctx);
  const webhooks = startOutgoingWebhooks(ctx);
  resources.defer(() => webhooks.stop());
  const housekeeping = createHousekeeping(ctx);
  // Deferred before the application, which so stops first: what its last requests drop is still counted.
  resources.defer(() => housekeeping.stop());
  const refreshing = setInterval(() => void refreshSigningKeys(ctx), KEY_REFRESH_INTERVAL_MS);
  resources.defer(() => clearInterval(refreshing));
  metrics.setDatabasePool(() => readPoolNumbers(pool));
  const jobs = await openJobs(ctx);
  resources.defer(() => jobs.stop());
  const metricsListener = await listenForMetrics(ctx);
  resources.defer(async () => metricsListener?.close());

  let state: ServiceState = 'ready';
  const app = assembleApp(ctx, jobs, () => state);
  resources.defer(prepareToClose(app));
  resources.defer(() => ctx.outreach.stop());
  const account = database.account ?? (await chooseAccount(config.database.account, null));
  if (account !== null) await loadDeferredModules();
  const url = await listen(app, config);
  if (account !== null) giveUpRoot(account, log);
  const queueing = releaseHeldEmails(ctx);
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

async function watchDisk(
  { directory }: Pick<OpenDatabase, 'directory'>,
  log: Logger,
): Promise<DiskSpace | null> {
  if (directory === null) return null;
  const disk = new DiskSpace(directory, log);
  await disk.start();
  return disk;
}

async function bringUpToDate(pool: Pool, log: Logger): Promise<void> {
  const applied = await migrate(pool);
  if (applied.length > 0) log.info({ migrations: applied }, 'the database was migrated');
}

async function openJobs(ctx: Context): Promise<RunningJobs> {
  const { log, metrics, pool } = ctx;
  await beginRecurringJobs(ctx);
  await scheduleBodyRemoval(ctx);
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
      isDiskLow: ctx.storage.isDiskLow,
    },
    prepare: (app) => observeRequests(app, { log, metrics }),
  });
}

function readPoolNumbers(pool: Pool): PoolNumbers {
  return { total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

/** While the database cannot be asked for new keys, those in memory go on serving. */
async function refreshSigningKeys(ctx: Context): Promise<void> {
  try {
    await ctx.signingKeys.refresh();
  } catch (error) {
    ctx.log.warn({ err: error }, 'the signing keys could not be read again');
  }
}
