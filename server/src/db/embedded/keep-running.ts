import { setTimeout as sleep } from 'node:timers/promises';

import { StartupError } from '#server/config/startup-error.ts';

import type { EmbeddedPostgresLog } from './log.ts';
import { stopOrphan } from './postmaster-file.ts';
import { waitUntilReady, type EmbeddedConnection } from './readiness.ts';
import type { ServerLog } from './server-log.ts';
import { launchServer, type Launch, type SupervisedServer } from './supervisor.ts';

/** A server that is started again whenever it ends. */
export interface RunningServer {
  stop(): Promise<void>;
}

export interface KeepRunningOptions {
  readonly launch: Launch;
  readonly connection: EmbeddedConnection;
  readonly serverLog: ServerLog;
  readonly log: EmbeddedPostgresLog;
}

/** The pauses before the attempts; the last one is repeated. */
const BACK_OFF_MS = [50, 200, 500, 1_000, 2_000, 5_000] as const;
const LONGEST_BACK_OFF_MS = 5_000;

/** A server that was killed leaves processes that hold its shared memory for a moment. */
const FIRST_START_ATTEMPTS = 4;

/**
 * Starts the server, and starts it again after every end that was not asked for, for as long as it takes.
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
      options.log.error({ end }, 'the database server ended by itself: starting it again');
      const next = await restart(options, stopping.signal);
      if (next === null) return;
      if (stopping.signal.aborted) return next.stop();
      server = next;
      options.log.info({}, 'the database server is back');
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
    const lines = await options.serverLog.readTail();
    const passing = /lock file|still in use/.test(lines);
    if (!passing || attempt === FIRST_START_ATTEMPTS) throw startFailed(options, lines);
    await sleep(backOffMs(attempt + 1));
  }
}

/** Null: the service was stopped in the meantime. */
async function restart(
  options: KeepRunningOptions,
  stopping: AbortSignal,
): Promise<SupervisedServer | null> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await sleep(backOffMs(attempt), undefined, { signal: stopping, ref: false });
      const server = await startOnce(options, stopping);
      if (server !== null || stopping.aborted) return server;
      const lines = await options.serverLog.readTail();
      options.log.error(
        { attempt, reason: findReason(lines) },
        'the database server does not start',
      );
    } catch (error) {
      if (stopping.aborted) return null;
      options.log.error({ attempt, err: error }, 'the database server does not start');
    }
  }
}

/** Null: it ended before it was ready. */
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
  return new StartupError(
    [`The embedded PostgreSQL does not start: ${findReason(lines)}. Its log is ${serverLog.path}.`],
    { cause: new Error(lines) },
  );
}

/** The line that tells most, going by how PostgreSQL marks the few kinds that matter. */
function findReason(lines: string): string {
  const line = lines.split('\n').findLast((each) => /FATAL:|PANIC:|error|not found/i.test(each));
  return (line?.replace(/^.*?(FATAL|PANIC): +/, '') ?? 'it ended without a word').slice(0, 300);
}
