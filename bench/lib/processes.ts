import { fork, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import type { Target } from './http-connection.ts';
import { BILLING_SECRET } from './purchases.ts';

/** A server in a separate process. */
export interface ServerProcess {
  readonly pid: number;
  readonly target: Target;
  stop(): Promise<void>;
}

/** The service in a separate process. */
export interface ServiceProcess extends ServerProcess {
  readonly dataDirectory: string;
  /** Returns the current resident memory in megabytes. */
  residentMegabytes(): number;
}

/** Environment variables by name. */
type Settings = Readonly<Record<string, string>>;

const THIS_VERSION = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Starts the service on a data directory.
 * @param settings added to those of every service of the benchmark
 * @param checkout the directory of another version to start; default: this one
 */
export async function startServiceProcess(
  dataDirectory: string,
  settings: Settings = {},
  checkout: string = THIS_VERSION,
): Promise<ServiceProcess> {
  const script = pathToFileURL(join(checkout, 'bench', 'server.ts'));
  const child = forkScript(script, [], dataDirectory, settings);
  const started = await waitForPort(child);
  return {
    ...started,
    dataDirectory,
    residentMegabytes: () => readResidentMegabytes(started.pid),
  };
}

/** Starts a bare HTTP server of Node.js for comparison. */
export async function startBareServer(): Promise<ServerProcess> {
  return waitForPort(forkScript(new URL('../bare-server.ts', import.meta.url), [], ''));
}

async function waitForPort(child: ChildProcess): Promise<ServerProcess> {
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', (message) => resolve(readPort(message)));
    child.once('exit', (code) => reject(new Error(`the server exited with ${String(code)}`)));
  });
  return { target: { host: '127.0.0.1', port }, pid: child.pid ?? 0, stop: () => stop(child) };
}

/** Fills a data directory with activated licenses; idempotent. */
export async function seedDataDirectory(
  dataDirectory: string,
  activations: number,
  settings: Settings = {},
): Promise<void> {
  const child = forkScript(
    new URL('../seed.ts', import.meta.url),
    [String(activations)],
    dataDirectory,
    settings,
  );
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`seeding ended with ${String(code)}`);
}

function forkScript(
  script: URL,
  args: readonly string[],
  dataDirectory: string,
  settings: Settings = {},
): ChildProcess {
  return fork(fileURLToPath(script), args, {
    execArgv: process.execArgv,
    env: { ...serviceSettings(dataDirectory), ...settings },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** Returns the environment of a service of the benchmark. */
export function serviceSettings(dataDirectory: string): NodeJS.ProcessEnv {
  const { DATABASE_URL: _none, ...env } = process.env;
  return {
    ...env,
    LATCHKEY_DATA_DIR: dataDirectory,
    LATCHKEY_PORT: '0',
    LATCHKEY_BILLING_SECRETS: BILLING_SECRET,
    // All clients of a load have the same address.
    LATCHKEY_EVENTS_RATE: '1000000/1000000',
    LATCHKEY_STORAGE_QUOTA_MIB: '1000000',
  };
}

function readPort(message: unknown): number {
  if (typeof message === 'object' && message !== null && 'port' in message) {
    return Number(message.port);
  }
  throw new Error('the service reported no port');
}

/** `VmRSS` of /proc/PID/status, in kB (proc_pid_status(5)). */
function readResidentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / 1024;
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exited;
}
