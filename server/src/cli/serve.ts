import { constants } from 'node:os';

import { Command } from 'commander';

import { loadConfiguration } from '#server/config/load.ts';
import { isReadByPeople } from '#server/log.ts';
import type { RunningService } from '#server/serve.ts';

import { withExamples } from './options.ts';

/**
 * How long a stop may take before it is forced. Its parts follow one another: 10 s for requests under way, 5 s for jobs,
 * 5 s for webhooks, 16 s for the embedded database.
 */
const STOP_DEADLINE_MS = 38_000;

/** Whatever is left after a stop has this long to end by itself. */
const LINGER_MS = 1_000;

/** `latchkey serve`: runs until it is told to stop. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('Run the service, with its own PostgreSQL unless DATABASE_URL names another.')
    .action(serve);
  return withExamples(command, [
    ['serve', 'With no settings at all: the database in ./data, http://127.0.0.1:8080'],
    ['serve', 'On another port: set LATCHKEY_PORT=9000'],
  ]);
}

async function serve(): Promise<void> {
  const configuration = loadConfiguration();
  const doneStarting = endAtSignals();
  // Loaded only here: other commands, and the report of a wrong setting, are faster without the HTTP server.
  const { startService } = await import('#server/serve.ts');
  const service = await startService(configuration);
  doneStarting();
  announce(service);
  process.on('SIGHUP', () => void service.reload());
  await receiveStopSignal();
  await stopInTime(service);
}

/** Ends the process as the signal would. */
function endBy(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}

function ignore(): void {}

/**
 * Lets a signal end the process at once, since there is nothing to finish while the service starts. This has to be said:
 * the first process of a container receives only signals that it listens for. Gives the function that undoes this.
 */
function endAtSignals(): () => void {
  process.on('SIGINT', endBy).on('SIGTERM', endBy).on('SIGHUP', ignore);
  return () => {
    process.off('SIGINT', endBy).off('SIGTERM', endBy).off('SIGHUP', ignore);
  };
}

/** One Ctrl-C may arrive twice, from the terminal and from npm; only a later one counts as a second. */
const SECOND_SIGNAL_AFTER_MS = 1_000;

/** Resolves at the first signal to stop; a second one ends the process as it stands. */
async function receiveStopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let askedAt: number | null = null;
  const onSignal = (): void => {
    const now = performance.now();
    if (askedAt !== null && now - askedAt > SECOND_SIGNAL_AFTER_MS) process.exit(1);
    askedAt ??= now;
    resolve();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  await promise;
}

async function stopInTime(service: RunningService): Promise<void> {
  const deadline = setTimeout(() => {
    service.log.error('the service did not stop in time: ending it as it is');
    process.exit(1);
  }, STOP_DEADLINE_MS);
  try {
    await service.stop();
  } finally {
    clearTimeout(deadline);
  }
  // A connection to a database that does not answer would keep the process.
  setTimeout(() => process.exit(), LINGER_MS).unref();
}

/** Says where the service is: to a person with what to do next, else as one more line of the log. */
function announce({ url, log }: RunningService): void {
  if (isReadByPeople()) process.stdout.write(describe(url));
  else log.info({ url }, `Latchkey listens on ${url}`);
}

/** What a newcomer needs next. */
function describe(url: string): string {
  return [
    '',
    `  Latchkey listens on   ${url}`,
    `  The documents are at  ${url}/docs`,
    '  Issue a first license npx latchkey license issue --product personal',
    '  Stop with             Ctrl-C',
    '',
    '',
  ].join('\n');
}
