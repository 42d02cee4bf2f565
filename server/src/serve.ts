import type { Pool } from 'pg';

import { buildApp } from './app.ts';
import { createBackground } from './background.ts';
import { systemClock } from './clock.ts';
import { openLiveCatalog, type LiveCatalog } from './config/catalog.ts';
import type { Config } from './config/config.ts';
import type { LoadedConfiguration } from './config/load.ts';
import type { Secrets } from './config/secrets.ts';
import { lacksMigrations, migrate } from './db/migrate.ts';
import { chooseAccount, type Account } from './db/embedded/account.ts';
import { DiskSpace } from './db/embedded/disk-space.ts';
import { openDatabase, type OpenDatabase } from './db/open-database.ts';
import { sendQuery } from './db/send-query.ts';
import { openGumroadApi } from './features/billing/providers/gumroad/gumroad-api.ts';
import { openPaddleApi } from './features/billing/providers/paddle/paddle-api.ts';
import { openStripeApi } from './features/billing/providers/stripe/stripe-api.ts';
import { createFirstLink, logMissingOperator } from './features/operators/first-operator.ts';
import type { WorkerCounts } from './features/health/dependencies.ts';
import { BacklogCounter } from './features/health/count-backlog.ts';
import { InstallationWatch } from './features/health/watch-installation.ts';
import { CONCURRENT_MESSAGES } from './features/outreach/deliver-messages.ts';
import { dropPrivileges, loadDeferredModules } from './drop-privileges.ts';
import type { App } from './http/app-instance.ts';
import { letClientsLeave, prepareToClose } from './http/connections.ts';
import { listen, listenForMetrics } from './http/listen.ts';
import { observeRequests } from './http/observe-requests.ts';
import type { ServiceState } from './http/service-state.ts';
import type { TaskStatus, TaskStatusList } from './jobs/task-statuses.ts';
import type { CounterStore } from './lib/shared-counters.ts';
import { version } from './lib/version.ts';
import { createLog, isReadByPeople, type Logger } from './log.ts';
import { createMailTransport } from './mail/smtp-transport.ts';
import { createContext, loadSigningKeys, type Context } from './context.ts';
import { requireStartable } from './require-startable.ts';
import { openSharedLimits, type SharedLimits } from './shared-limits.ts';
import { createMetrics, type Metrics } from './metrics.ts';

/** A service, of one process or of several workers. */
export interface RunningService {
  readonly url: string;
  readonly log: Logger;
  /** Resolves when the service cannot continue. Null: it ends only by `stop`. */
  readonly ended: Promise<void> | null;
  /** Creates a link with which its reader becomes the first operator; null if there is an operator. */
  createFirstLink(): Promise<string | null>;
  /** Reads the catalogue and the signing keys again. */
  reload(): Promise<void>;
  /** Replaces one worker after the other; null: there are no workers. */
  readonly roll: (() => Promise<void>) | null;
  /** Completes requests and jobs in progress, then closes everything. */
  stop(): Promise<void>;
}

/** A process that serves requests: alone, or as one of several workers. */
export interface ServiceProcess extends Pick<
  RunningService,
  'url' | 'log' | 'createFirstLink' | 'reload' | 'stop'
> {
  /** Starts jobs and housekeeping, which one of several workers runs. */
  lead(): void;
  /**
   * Accepts no new connections, and waits until the clients have left and every outreach request is answered.
   * @param signal ends the wait
   */
  retire(signal: AbortSignal): Promise<void>;
  snapshotMetrics(): ReturnType<Metrics['snapshot']>;
  /** Returns the statuses of this process's tasks as entries of a map. */
  listTaskStatuses(): readonly (readonly [string, TaskStatus])[];
}

/** What a worker gets from its supervisor. */
export interface WorkerOptions {
  /** Counts all workers from 1. */
  readonly number: number;
  /** Whether it logs what concerns all workers. */
  readonly isFirst: boolean;
  readonly openDatabase: (config: Config, secrets: Secrets, log: Logger) => Promise<OpenDatabase>;
  /** Returns the metrics of all workers together. */
  readonly renderMetrics: () => Promise<string>;
  /** Returns the statuses of tasks of the worker that leads. */
  readonly readLeaderTasks: () => Promise<TaskStatusList>;
  /** Reports the begin and the end of migrations, whose time does not count as start. */
  readonly reportMigrating: (isMigrating: boolean) => void;
  /** The counters of limits in the supervisor. */
  readonly counterStore: CounterStore;
  /** Null before the supervisor reported them. */
  readonly readWorkers: () => WorkerCounts | null;
}

/**
 * Starts the service in this process alone: ports, then the process's parts, then root is dropped.
 * @throws StartupError with a sentence for each problem
 */
export async function startService(configuration: LoadedConfiguration): Promise<RunningService> {
  await requireStartable(configuration.config);
  const service = await startServiceProcess(configuration, null);
  service.lead();
  return { ...service, ended: null, roll: null };
}

/**
 * Starts a process that serves requests, in this order: catalogue, database with its migrations, dependencies of the
 * features (`context.ts`), background work (`background.ts`), HTTP application (`app.ts`), port.
 * @param worker null: it runs alone, opens the port of the metrics, and drops root
 * @throws StartupError with a sentence for each problem
 */
export async function startServiceProcess(
  configuration: LoadedConfiguration,
  worker: WorkerOptions | null,
): Promise<ServiceProcess> {
  const { config, warnings } = configuration;
  const log = createLog({ ...config.log, ...(worker === null ? {} : { worker: worker.number }) });
  if (worker === null) {
    for (const warning of warnings) log.warn({ event: 'configuration.warning' }, warning);
  }
  const catalog = openLiveCatalog(config.catalogPath, log);

  // Closed in reverse order, when a later step fails and in stop().
  await using resources = new AsyncDisposableStack();
  const { context, database, disk, limits, own } = await openContext(
    { configuration, worker, log, catalog },
    resources,
  );
  const backlog = new BacklogCounter(context);
  const installation = new InstallationWatch(context);
  setGauges(context, { backlog, installation, disk });
  const background = await createBackground(context, [backlog.task, ...installation.tasks], disk);
  // The application stops first, so that events that its last requests drop are still counted.
  resources.defer(() => background.stop());
  if (worker === null) {
    const metricsListener = await listenForMetrics(config, context.metrics, log);
    resources.defer(async () => metricsListener?.close());
  }

  let state: ServiceState = 'ready';
  const readWorkers = worker?.readWorkers ?? (() => null);
  const app = assembleApp(context, backlog, () => state, { ...limits, readWorkers });
  resources.defer(prepareToClose(app));
  resources.defer(() => context.outreach.stop());
  const account = worker === null ? await findAccount(database, config) : null;
  if (account !== null) await loadDeferredModules(config);
  const url = await listen(app, config);
  if (account !== null) dropPrivileges(account, log);
  background.start();
  if (!isReadByPeople() && worker?.isFirst !== false) await logMissingOperator(context);

  const kept = resources.move();
  return {
    ...describeProcess(context),
    url,
    log,
    async reload() {
      catalog.reload();
      await reloadSigningKeys(context);
    },
    lead: () => background.lead(),
    async retire(signal) {
      state = 'retiring';
      await letClientsLeave(app, signal);
      // A stop interrupts them, which would fail their messages.
      await context.outreach.waitUntilIdle(signal);
    },
    snapshotMetrics: () => own.snapshot(),
    async stop() {
      state = 'draining';
      await kept.disposeAsync();
    },
  };
}

/** Sets what is read at each scrape: numbers in memory, so that metrics are served while the database does not answer. */
function setGauges(
  { metrics, signingKeys, clock }: Context,
  parts: {
    readonly backlog: BacklogCounter;
    readonly installation: InstallationWatch;
    readonly disk: DiskSpace | null;
  },
): void {
  const { backlog, installation, disk } = parts;
  metrics.setBacklog(() => backlog.last);
  metrics.setInstallation(() => installation.facts);
  metrics.setLicenses(() => installation.licenses);
  metrics.setFreeDisk(() => disk?.freeBytes ?? null);
  metrics.setSigningKey(() => signingKeys.currentLifetime(clock.now()));
}

function describeProcess(
  context: Context,
): Pick<ServiceProcess, 'createFirstLink' | 'listTaskStatuses'> {
  const { taskStatuses } = context;
  return {
    createFirstLink: async () => (await createFirstLink(context))?.url ?? null,
    listTaskStatuses: () => taskStatuses.tasks.map(({ name }) => [name, taskStatuses.find(name)]),
  };
}

interface ProcessParts {
  readonly configuration: LoadedConfiguration;
  readonly worker: WorkerOptions | null;
  readonly log: Logger;
  readonly catalog: LiveCatalog;
}

/** Opens and migrates the database, and creates the dependencies of the features. */
async function openContext(
  { configuration, worker, log, catalog }: ProcessParts,
  resources: AsyncDisposableStack,
) {
  const { config, secrets, settings, warnings } = configuration;
  const database = await (worker?.openDatabase ?? openOwnDatabase)(config, secrets, log);
  resources.defer(() => database.close());
  const { pool, replica } = database;
  const disk = database.directory === null ? null : new DiskSpace(database.directory, log);
  worker?.reportMigrating(true);
  await migrateDatabase(pool, log);
  worker?.reportMigrating(false);

  const limits = await openSharedLimits({ secrets, workers: worker?.counterStore ?? null, log });
  resources.defer(() => limits.close());
  const own = createMetrics({ version });
  const metrics = worker === null ? own : { ...own, render: worker.renderMetrics };
  const mail = createMailTransport(config, secrets);
  const outreachMail = createMailTransport(config, secrets, CONCURRENT_MESSAGES);
  resources.defer(() => {
    mail?.close();
    outreachMail?.close();
  });
  const paddleApi = openPaddleApi(config, secrets, systemClock);
  const gumroadApi = openGumroadApi(config, secrets, systemClock);
  const stripeApi = openStripeApi(config, secrets, systemClock);
  const parts = {
    config,
    secrets,
    clock: systemClock,
    log,
    metrics,
    pool,
    replica,
    mail,
    outreachMail,
  };
  const context = createContext({
    ...parts,
    settings,
    warnings,
    paddleApi,
    gumroadApi,
    stripeApi,
    isDiskLow: () => disk?.isLow ?? false,
    catalog: () => catalog.current(),
    sharedCounters: limits.counters,
  });
  if (worker !== null) context.taskStatuses.setLeader(worker.readLeaderTasks);
  await loadSigningKeys(context);
  metrics.setDatabasePool(pool);
  return { context, database, disk, limits, own };
}

function openOwnDatabase(config: Config, secrets: Secrets, log: Logger): Promise<OpenDatabase> {
  return openDatabase(config, secrets, log, true);
}

/** Returns the account for which root is dropped; null if this process is not root. */
async function findAccount(database: OpenDatabase, config: Config): Promise<Account | null> {
  return database.account ?? chooseAccount(config.database.account, null);
}

async function migrateDatabase(pool: Pool, log: Logger): Promise<void> {
  const applied = await migrate(pool);
  if (applied.length > 0)
    log.info({ event: 'database.migrated', migrations: applied }, 'migrated the database');
}

function assembleApp(
  context: Context,
  backlog: BacklogCounter,
  state: () => ServiceState,
  shared: Pick<WorkerOptions, 'readWorkers'> & Pick<SharedLimits, 'isRedisUsed'>,
): App {
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
      readWorkers: shared.readWorkers,
      isRedisUsed: shared.isRedisUsed,
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
