/** `latchkey serve`: the service. */
import { constants } from 'node:os';

import { loadConfiguration, type LoadedConfiguration } from '#server/config/load.ts';
import { createLog, isReadByPeople } from '#server/log.ts';
import type { RunningService } from '#server/serve.ts';
import { parseWorkerCount } from '#server/workers/worker-count.ts';

import { failed } from './command-error.ts';
import { command } from './command.ts';
import { option } from './parameters.ts';
import { notifyWatchdog } from './systemd-watchdog.ts';

/**
 * Time limit of a stop. Its parts run one after the other: 10 s for open requests, 5 s for jobs, 5 s for webhooks, 16 s for
 * the embedded database.
 */
const STOP_DEADLINE_MS = 38_000;

/** Time after a stop in which open connections may close before the process exits. */
const LINGER_MS = 1_000;

export const serveCommand = command({
  name: 'serve',
  description:
    'Run the service until it receives SIGINT or SIGTERM. It starts an embedded PostgreSQL unless DATABASE_URL is set.',
  examples: {
    serve: 'On http://127.0.0.1:8080 or LATCHKEY_PORT, with its data in ./data',
    'serve --workers auto': 'The same with one worker process for each core',
  },
  parameters: [
    option(
      '--workers <n>',
      'worker processes behind one port, or auto for one per core; SIGUSR2 replaces them one by one (default: one process without a supervisor)',
      (text) => parseWorkerCount(text),
    ),
  ],
  hasJson: false,
  run: serve,
});

async function serve({ workers }: { readonly workers: number | null }): Promise<void> {
  const configuration = loadConfiguration();
  notifyWatchdog(process.env, () => createLog(configuration.config.log));
  const stopListening = exitAtSignals();
  const service = await start(configuration, workers);
  // Before the others stop listening: without a listener, a signal would end the process at once.
  const stopSignal = receiveStopSignal();
  process.on('SIGHUP', () => void service.reload());
  process.on('SIGUSR2', () => replaceWorkers(service));
  stopListening();
  await reportUrl(service);
  const hasFailed = await Promise.race([stopSignal, service.ended?.then(() => true) ?? stopSignal]);
  await stopInTime(service);
  if (hasFailed === true) throw failed('No worker could be started: see the log for the reason.');
}

/** The modules are imported only here: other commands and configuration errors are faster without the HTTP server. */
async function start(
  configuration: LoadedConfiguration,
  workers: number | null,
): Promise<RunningService> {
  if (workers === null) return (await import('#server/serve.ts')).startService(configuration);
  return (await import('#server/workers/primary.ts')).startWorkers(configuration, workers);
}

/** Exits with the code of a process that the signal ended. */
function exitBy(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}

function ignore(): void {}

function replaceWorkers({ log, roll }: RunningService): void {
  if (roll !== null) void roll();
  else {
    const message = 'ignored SIGUSR2: the service runs without --workers';
    log.warn({ event: 'service.signal_ignored', signal: 'SIGUSR2' }, message);
  }
}

/**
 * Ends the process at a signal during the start, when there is nothing to finish. The first process of a container receives
 * only signals that it listens for.
 * @returns the function that removes the listeners
 */
function exitAtSignals(): () => void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, exitBy);
  // Without a listener, they would end the process.
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, ignore);
  return () => {
    process.off('SIGINT', exitBy).off('SIGTERM', exitBy);
    process.off('SIGHUP', ignore).off('SIGUSR2', ignore);
  };
}

/** One Ctrl-C can arrive twice, from the terminal and from npm, so a second signal counts only after this time. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

/** Resolves at the first signal; a second one ends the process at once. */
async function receiveStopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let firstAt: number | null = null;
  const onSignal = (): void => {
    const now = performance.now();
    if (firstAt !== null && now - firstAt > SECOND_SIGNAL_AFTER_MS) process.exit(1);
    firstAt ??= now;
    resolve();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  await promise;
}

async function stopInTime(service: RunningService): Promise<void> {
  const deadline = setTimeout(() => {
    service.log.error({ event: 'service.stop_timeout' }, 'service did not stop in time: exiting');
    process.exit(1);
  }, STOP_DEADLINE_MS);
  try {
    await service.stop();
  } finally {
    clearTimeout(deadline);
  }
  // A connection to a database that does not answer would keep the process running.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Reports the URL of the service: to a person with the next steps, otherwise as a line of the log. */
async function reportUrl(service: RunningService): Promise<void> {
  const { url, log } = service;
  if (isReadByPeople()) process.stdout.write(describe(url, await service.createFirstLink()));
  else log.info({ event: 'service.listening', url }, `Latchkey listens on ${url}`);
}

/** @param firstLink creates the first operator; null if there is one */
function describe(url: string, firstLink: string | null): string {
  return [
    '',
    `  Latchkey listens on   ${url}`,
    `  Console               ${url}/console`,
    ...(firstLink === null ? [] : [`  First operator        ${firstLink}`]),
    `  API documentation     ${url}/docs`,
    '  Issue a license       npx latchkey license issue --product personal',
    '  Stop                  Ctrl-C',
    '',
    '',
  ].join('\n');
}
