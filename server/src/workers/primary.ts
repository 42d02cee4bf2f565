import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';

import { readVariables, type LoadedConfiguration } from '#server/config/load.ts';
import { CONFIGURATION_EXIT_CODE, StartupError } from '#server/config/startup-error.ts';
import { chooseAccount, type Account } from '#server/db/embedded/account.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '#server/db/embedded/start.ts';
import { dropPrivileges } from '#server/drop-privileges.ts';
import { listenForMetrics } from '#server/http/listen.ts';
import { cacheBriefly } from '#server/lib/cache-briefly.ts';
import { LocalStore } from '#server/lib/shared-counters.ts';
import { createLog, type Logger } from '#server/log.ts';
import { requireStartable } from '#server/require-startable.ts';
import type { RunningService } from '#server/serve.ts';

import { exchangeAll } from './channel-store.ts';
import type { WorkerAssignment } from './assignment.ts';
import { createSupervisorMetrics } from './supervisor-metrics.ts';
import { Supervisor } from './supervisor.ts';
import { WorkerMetrics } from './worker-metrics.ts';
import { EarlyEnd, launchWorker, type WorkerProcess } from './worker-process.ts';
import { describeForAccount, requireReadable } from './worker-settings.ts';

const WORKER_PROGRAM = fileURLToPath(new URL('./worker-main.ts', import.meta.url));

/** The descriptor of the data directory in a worker: the first one after the standard streams and the IPC channel. */
const DIRECTORY_DESCRIPTOR = 4;

/**
 * Starts the service as several workers behind one port, with this process as their supervisor: it runs the embedded
 * PostgreSQL, opens the ports, passes connections to the workers in turn, and replaces workers that end.
 * @throws StartupError with a sentence for each problem; nothing runs then
 */
export async function startWorkers(
  configuration: LoadedConfiguration,
  count: number,
): Promise<RunningService> {
  const { config, warnings } = configuration;
  const log = createLog(config.log);
  for (const warning of warnings) log.warn({ event: 'configuration.warning' }, warning);
  await requireStartable(config);

  // Closed in reverse order, when a later step fails and in stop().
  await using resources = new AsyncDisposableStack();
  const database = await openOwnDatabase(configuration, count, log);
  resources.defer(() => database?.stop());
  const account = database?.account ?? (await chooseAccount(config.database.account, null));
  if (account !== null) await requireReadable(WORKER_PROGRAM, account);

  prepareToFork(configuration, account, database);
  const { supervisor, renderMetrics } = createSupervisor(database, count, log);
  const metricsListener = await listenForMetrics(config, { render: renderMetrics }, log);
  resources.defer(async () => metricsListener?.close());
  const url = await startAll(supervisor);
  resources.defer(() => supervisor.stop());
  if (account !== null) {
    dropPrivileges(account, log);
    // Later workers have this process's account.
    cluster.setupPrimary({ uid: undefined, gid: undefined });
  }

  const kept = resources.move();
  return {
    url,
    log,
    ended: supervisor.failed,
    createFirstLink: () => createFirstLink(supervisor),
    reload: async () => supervisor.notify('reload'),
    roll: () => supervisor.roll(),
    stop: () => kept.disposeAsync(),
  };
}

/** Starts the embedded PostgreSQL; returns null with DATABASE_URL, which the workers open themselves. */
async function openOwnDatabase(
  { config, secrets }: LoadedConfiguration,
  count: number,
  log: Logger,
): Promise<EmbeddedPostgres | null> {
  if (secrets.databaseUrl !== null) return null;
  const { dataDirectory, database } = config;
  return startEmbeddedPostgres({
    dataDirectory,
    log,
    account: database.account ?? undefined,
    dropsPrivileges: true,
    // During a rolling restart there is one worker more.
    clientConnections: (count + 1) * database.poolSize,
  });
}

function prepareToFork(
  configuration: LoadedConfiguration,
  account: Account | null,
  database: EmbeddedPostgres | null,
): void {
  const descriptor = database?.directoryDescriptor ?? null;
  cluster.setupPrimary({
    exec: WORKER_PROGRAM,
    args: [],
    // The supervisor alone follows npm.
    execArgv: withoutImports(process.execArgv),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...(descriptor === null ? [] : [descriptor])],
    ...(account === null ? {} : { ...account, cwd: '/' }),
  });
  if (account === null) return;
  // Each fork gets the variables of this process.
  Object.assign(process.env, describeForAccount(configuration, readVariables()));
}

function withoutImports(args: readonly string[]): string[] {
  return args.filter((arg, index) => arg !== '--import' && args[index - 1] !== '--import');
}

function createSupervisor(database: EmbeddedPostgres | null, count: number, log: Logger) {
  const metrics = new WorkerMetrics(log);
  const counters = new LocalStore();
  const embedded = database === null ? null : connectionOfWorkers(database);
  const supervisor: Supervisor = new Supervisor({
    count,
    log,
    launch: (number) => launch({ number, isFirst: number === 1, embedded }),
    onEnd(worker) {
      own.countEnd();
      metrics.addEnded(worker);
    },
  });
  const own = createSupervisorMetrics(() => supervisor.counts);
  // Requests of workers at the same time share one answer, however many there are.
  const renderMetrics = shareConcurrent(async () =>
    metrics.render(supervisor.all, await own.snapshot()),
  );
  const readLeaderTasks = shareConcurrent(
    async () => (await supervisor.leader?.channel.request('tasks')) ?? null,
  );
  const launch = (assignment: WorkerAssignment): WorkerProcess => {
    const worker: WorkerProcess = launchWorker(assignment, {
      render_metrics: renderMetrics,
      last_metrics: (snapshot) => metrics.record(worker, snapshot),
      exchange_counters: (exchanges) => exchangeAll(counters, exchanges),
      leader_tasks: readLeaderTasks,
    });
    return worker;
  };
  return { supervisor, renderMetrics };
}

function shareConcurrent<Value>(load: () => Promise<Value>): () => Promise<Value> {
  return cacheBriefly(() => performance.now(), 0, load);
}

/** The path through a descriptor of this process is that of the worker's own. */
function connectionOfWorkers({ connection, directoryDescriptor }: EmbeddedPostgres) {
  if (directoryDescriptor === null) return connection;
  const host = connection.host.replace(
    /^\/proc\/self\/fd\/\d+/u,
    `/proc/self/fd/${DIRECTORY_DESCRIPTOR}`,
  );
  return { ...connection, host };
}

/** @throws StartupError without problems, since the worker has printed them; EarlyEnd for any other end of a worker */
async function startAll(supervisor: Supervisor): Promise<string> {
  try {
    return await supervisor.start();
  } catch (error) {
    if (!(error instanceof EarlyEnd)) throw error;
    if (error.end.code === CONFIGURATION_EXIT_CODE) throw new StartupError([], { cause: error });
    throw error;
  }
}

async function createFirstLink(supervisor: Supervisor): Promise<string | null> {
  const link = await supervisor.ready[0]?.channel.request('create_first_link');
  return typeof link === 'string' ? link : null;
}
