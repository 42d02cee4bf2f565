import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { loadConfiguration } from '#server/config/load.ts';

import { describeDemo } from './describe-demo.ts';
import { openHome, type DemoHome } from './home.ts';
import { startMailRelay } from './local/mail-relay.ts';
import { startReceivers } from './local/receivers.ts';
import type { DemoOptions } from './options.ts';
import { fillPast } from './past/fill.ts';
import { Progress } from './progress.ts';

const COMMAND = fileURLToPath(new URL('../../server/bin/latchkey.mjs', import.meta.url));
const START_TIMEOUT_MS = 60_000;

/** Fills and runs a demo until a signal stops it. Returns the exit code. */
export async function runDemo(options: DemoOptions): Promise<number> {
  const stop = listenForStop();
  await using resources = new AsyncDisposableStack();
  const relay = await startMailRelay();
  resources.defer(() => relay.close());
  const receivers = await startReceivers(options.port + 1);
  resources.defer(() => void receivers.close());
  const home = await openHome(options, relay.port);
  resources.defer(() => home.remove());
  const startedAt = performance.now();
  if (!home.isFilled && !(await fill(home, options, stop))) return 0;
  const service = startService(home);
  resources.defer(() => endService(service));
  if (!(await isReady(service, options.port, stop))) return stop.aborted ? 0 : reportFailure(home);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(describeDemo(home, options, seconds));
  await Promise.race([once(service, 'exit'), stop.aborted || once(stop, 'abort')]);
  process.stdout.write('\nStopping …\n');
  return 0;
}

/** Aborts at the first signal to stop. */
function listenForStop(): AbortSignal {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  process.on('SIGINT', stop).on('SIGTERM', stop).on('SIGHUP', stop);
  return controller.signal;
}

/** Fills the database; returns false if it was stopped. */
async function fill(home: DemoHome, options: DemoOptions, stop: AbortSignal): Promise<boolean> {
  const progress = new Progress();
  const configuration = loadConfiguration({}, home.directory);
  const receiverUrl = `http://127.0.0.1:${options.port + 1}`;
  try {
    const filled = await fillPast(configuration, options, receiverUrl, (step, figures) => {
      progress.report(step, figures);
      stop.throwIfAborted();
    });
    await home.markFilled(filled.totpSecret);
    return true;
  } catch (error) {
    if (stop.aborted) return false;
    throw error;
  } finally {
    progress.end();
  }
}

/** Starts the service as a process of its own, in a group of its own: Ctrl-C reaches only this one, which stops it. */
function startService({ directory }: DemoHome): ChildProcess {
  const log = openSync(logOf(directory), 'a');
  return spawn(process.execPath, [COMMAND, 'serve'], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory },
    stdio: ['ignore', log, log],
    detached: true,
  });
}

async function isReady(service: ChildProcess, port: number, stop: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (service.exitCode === null && !stop.aborted && Date.now() < deadline) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/api/v1/health/live`);
      // The first visit bundles the console.
      if (response.ok) return (await fetch(`http://127.0.0.1:${port}/console`)).ok;
    } catch {
      // It does not listen yet.
    }
    await sleep(100);
  }
  return false;
}

/** Prints what the service printed last, since its log may be removed with the directory. */
async function reportFailure({ directory }: DemoHome): Promise<number> {
  const log = await readFile(logOf(directory), 'utf8');
  process.stderr.write(`The service did not start. It printed:\n${log.slice(-2_000).trim()}\n`);
  return 1;
}

function logOf(directory: string): string {
  return join(directory, 'service.log');
}

async function endService(service: ChildProcess): Promise<void> {
  if (service.exitCode !== null || service.signalCode !== null) return;
  const exited = once(service, 'exit');
  service.kill('SIGTERM');
  await exited;
}
