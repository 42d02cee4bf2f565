import { loadConfiguration } from '#server/config/load.ts';
import { StartupError } from '#server/config/startup-error.ts';
import { connectDatabase } from '#server/db/open-database.ts';
import { parseTaskStatuses } from '#server/jobs/task-statuses.ts';
import type { WorkerCounts } from '#server/features/health/dependencies.ts';
import { isRecord } from '#server/lib/unknown-values.ts';
import { startServiceProcess, type ServiceProcess } from '#server/serve.ts';

import { ChannelStore } from './channel-store.ts';
import { Channel } from './channel.ts';
import { ASSIGNMENT_VARIABLE, readAssignment } from './assignment.ts';

/** The supervisor may not read any more. */
const LAST_MESSAGE_MS = 1_000;

/** That of a process that SIGTERM ended. */
const STOPPED_EXIT_CODE = 143;

/**
 * Runs one worker until the supervisor stops it. If the supervisor ends, Node ends this process at once.
 * @throws StartupError when it cannot start
 */
export async function runWorker(): Promise<void> {
  const text = process.env[ASSIGNMENT_VARIABLE];
  delete process.env[ASSIGNMENT_VARIABLE];
  if (text === undefined || process.send === undefined) {
    throw new StartupError(['This program is started by latchkey serve --workers.']);
  }
  const assignment = readAssignment(text);
  ignoreSignalsOfTerminal();
  let counts: WorkerCounts | null = null;
  let service: ServiceProcess | null = null;
  const ending = new Ending();
  const channel = new Channel(sendToSupervisor, {
    workers: (payload) => void (counts = readCounts(payload)),
    ping: () => null,
    metrics: () => service?.snapshotMetrics(),
    tasks: () => service?.listTaskStatuses(),
    create_first_link: () => service?.createFirstLink() ?? null,
    reload: () => void service?.reload(),
    lead: () => service?.lead(),
    retire: () => ending.retire(),
    stop: () => ending.stop(),
  });
  process.on('message', (message) => channel.receive(message));
  process.on('SIGTERM', () =>
    service === null ? process.exit(STOPPED_EXIT_CODE) : ending.retire(),
  );

  service = await startServiceProcess(loadConfiguration(), {
    number: assignment.number,
    isFirst: assignment.isFirst,
    openDatabase: (config, secrets, log) =>
      connectDatabase(assignment.embedded, { config, secrets, log }),
    renderMetrics: async () => String(await channel.request('render_metrics')),
    readLeaderTasks: async () => parseTaskStatuses(await channel.request('leader_tasks')),
    counterStore: new ChannelStore(channel),
    readWorkers: () => counts,
    reportMigrating: (isMigrating) => channel.notify('migrating', isMigrating),
  });
  channel.notify('ready', service.url);
  await ending.run(service);
  await sendLastMetrics(service);
  process.exit();
}

/** Waits until the message is sent: the end of the process would lose it. */
async function sendLastMetrics(service: ServiceProcess): Promise<void> {
  const message = { latchkey: 'last_metrics', payload: await service.snapshotMetrics() };
  await new Promise<void>((resolve) => {
    setTimeout(resolve, LAST_MESSAGE_MS);
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

/** The end of a worker: a retirement, which a stop cuts short. */
class Ending {
  readonly #retiring = Promise.withResolvers<void>();
  readonly #stopping = new AbortController();

  retire(): void {
    this.#retiring.resolve();
  }

  stop(): void {
    this.#stopping.abort();
    this.#retiring.resolve();
  }

  /** Waits for the end and stops the service. */
  async run(service: ServiceProcess): Promise<void> {
    await this.#retiring.promise;
    await service.retire(this.#stopping.signal);
    await service.stop();
  }
}

/** Ctrl-C reaches all processes of a terminal, and the supervisor stops the workers. */
function ignoreSignalsOfTerminal(): void {
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});
}

function sendToSupervisor(message: object): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

function readCounts(payload: unknown): WorkerCounts | null {
  if (!isRecord(payload)) return null;
  const { running, wanted } = payload;
  return typeof running === 'number' && typeof wanted === 'number' ? { running, wanted } : null;
}
