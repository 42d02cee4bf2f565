import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { diskFull, isDiskFull } from '#server/config/data-directory.ts';
import { StartupError } from '#server/config/startup-error.ts';

import { waitUntilReady, type EmbeddedConnection } from './connection.ts';
import { stopOrphan } from './postmaster.ts';
import type { EmbeddedPostgresLog, ServerLog } from './server-log.ts';
import { launchServer, type Launch, type SupervisedServer } from './supervisor.ts';

/** A server that is restarted whenever it ends. */
export interface RunningServer {
  stop(): Promise<void>;
}

export interface KeepRunningOptions {
  readonly launch: Launch;
  readonly connection: EmbeddedConnection;
  readonly serverLog: ServerLog;
  readonly log: EmbeddedPostgresLog;
}

/** The delays before the attempts of a restart; the last one repeats. */
const BACK_OFF_MS = [50, 200, 500, 1_000, 2_000, 5_000] as const;
const LONGEST_BACK_OFF_MS = 5_000;

/** The processes of a killed server hold its shared memory until they end. */
const FIRST_START_ATTEMPTS = 4;

/**
 * Starts the server, and restarts it after every unexpected end, without a limit of attempts.
 * @throws StartupError when the first start fails
 */
export async function keepRunning(options: KeepRunningOptions): Promise<RunningServer> {
  const stopping = new AbortController();
  let server = await startFirst(options);
  const kept = keep();

  async function keep(): Promise<void> {
    for (;;) {
      const end = await server.ended;
      if (stopping.signal.aborted) return;
      options.log.error(
        { event: 'postgres.ended', end },
        'the database server ended: restarting it',
      );
      const next = await restart(options, stopping.signal);
      if (next === null) return;
      if (stopping.signal.aborted) return next.stop();
      server = next;
      options.log.info({ event: 'postgres.restarted' }, 'the database server runs again');
    }
  }

  return {
    async stop() {
      stopping.abort();
      await server.stop();
      await kept;
    },
  };
}

async function startFirst(options: KeepRunningOptions): Promise<SupervisedServer> {
  for (let attempt = 0; ; attempt += 1) {
    const server = await startOnce(options);
    if (server !== null) return server;
    const lines = options.serverLog.readTail();
    const isTransient = /lock file|still in use/.test(lines);
    if (!isTransient || attempt === FIRST_START_ATTEMPTS) throw startFailed(options, lines);
    await sleep(backOffMs(attempt + 1));
  }
}

/** Returns null when the service stopped first. */
async function restart(
  options: KeepRunningOptions,
  stopping: AbortSignal,
): Promise<SupervisedServer | null> {
  const logFailedStart = (fields: object): void =>
    options.log.error(
      { event: 'postgres.start_failed', ...fields },
      'could not start the database server',
    );
  for (let attempt = 0; ; attempt += 1) {
    try {
      await sleep(backOffMs(attempt), undefined, { signal: stopping, ref: false });
      const server = await startOnce(options, stopping);
      if (server !== null || stopping.aborted) return server;
      logFailedStart({ attempt, reason: findReason(options.serverLog.readTail()) });
    } catch (error) {
      if (stopping.aborted) return null;
      logFailedStart({ attempt, err: error });
    }
  }
}

/** Returns null when the server ended before it was ready. */
async function startOnce(
  { launch, connection, log }: KeepRunningOptions,
  stopping?: AbortSignal,
): Promise<SupervisedServer | null> {
  await stopOrphan(launch.cluster, log);
  const server = launchServer(launch);
  const stop = (): void => void server.stop();
  stopping?.addEventListener('abort', stop, { once: true });
  try {
    return (await waitUntilReady(server, connection, log)) ? server : null;
  } catch (error) {
    await server.stop();
    throw error;
  } finally {
    stopping?.removeEventListener('abort', stop);
  }
}

function backOffMs(attempt: number): number {
  return BACK_OFF_MS[attempt] ?? LONGEST_BACK_OFF_MS;
}

function startFailed({ serverLog }: KeepRunningOptions, lines: string): StartupError {
  const reason = findReason(lines);
  if (isDiskFull(new Error(reason))) return diskFull(dirname(serverLog.path), new Error(lines));
  return new StartupError(
    [`The embedded PostgreSQL does not start: ${reason}. Its log is ${serverLog.path}.`],
    { cause: new Error(lines) },
  );
}

/** Returns the last line that PostgreSQL marks as an error. */
function findReason(lines: string): string {
  const line = lines.split('\n').findLast((each) => /FATAL:|PANIC:|error|not found/i.test(each));
  return (line?.replace(/^.*?(FATAL|PANIC): +/, '') ?? 'it ended without a message').slice(0, 300);
}
