import { spawn, type ChildProcess } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { runLatchkey } from './command-line.ts';
import { listProcessesIn } from './embedded-postgres.ts';
import { inheritedVariables } from './inherited-variables.ts';

/** The exit code or the signal of a process; the other is null. */
export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The end of a service that did not listen, and its output. */
export interface EarlyEnd extends ProcessEnd {
  readonly output: string;
}

/** A running `latchkey serve`. */
export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** The lines of standard output and standard error so far. */
  readonly lines: readonly string[];
  readonly ended: Promise<ProcessEnd>;
  send(signal: NodeJS.Signals): void;
  /** Sends a signal and waits until the process ends. */
  stop(signal?: NodeJS.Signals): Promise<ProcessEnd>;
  /** Waits for a line; earlier lines count too. */
  waitForLine(pattern: RegExp): Promise<string>;
}

export type Settings = Readonly<Record<string, string>>;

/** A directory for services that run one after the other. */
export interface ServiceHome extends AsyncDisposable {
  readonly directory: string;
  /** Holds their embedded database and their secret. */
  readonly dataDirectory: string;
  /** Starts a service and waits until it listens. @param args of `latchkey serve`; default: none */
  start(settings?: Settings, args?: readonly string[]): Promise<ServiceProcess>;
  /**
   * Runs the service until it ends before it listens.
   * @param interruptAt when to send SIGTERM; default: never
   * @param args of `latchkey serve`; default: none
   */
  runToEnd(
    settings?: Settings,
    interruptAt?: Promise<unknown>,
    args?: readonly string[],
  ): Promise<EarlyEnd>;
  /** Runs another command on the same data, which must succeed, and returns its output. */
  run(args: readonly string[], settings?: Settings): Promise<string>;
}

/** The program of `npx latchkey`, which sets memory limits and then runs the service in the same process. */
const command = fileURLToPath(new URL('../bin/latchkey.mjs', import.meta.url));

const STARTED = /"Latchkey listens on (http:\/\/[^\s"]+)"/u;

/** The machine may be busy with other tests. */
const START_TIMEOUT_MS = 90_000;
const LINE_TIMEOUT_MS = 90_000;
const END_TIMEOUT_MS = 90_000;

/**
 * Creates a directory for services. Disposing kills them, waits for their databases to end and removes the directory.
 * @param program default: that of `npx latchkey`
 */
export async function createServiceHome(program = command): Promise<ServiceHome> {
  const directory = await mkdtemp(join(tmpdir(), 'latchkey-service-'));
  // A service that dropped root reads a changed catalogue in it.
  await chmod(directory, 0o755);
  const dataDirectory = join(directory, 'data');
  const children: ChildProcess[] = [];
  const launch = (settings: Settings, args: readonly string[] = []): ChildProcess => {
    const env = {
      ...inheritedVariables(),
      LATCHKEY_PORT: '0',
      LATCHKEY_DATA_DIR: dataDirectory,
      ...settings,
    };
    const child = spawn(process.execPath, [program, 'serve', ...args], { cwd: directory, env });
    children.push(child);
    return child;
  };
  return {
    directory,
    dataDirectory,
    start: (settings = {}, args = []) => follow(launch(settings, args)),
    runToEnd(settings = {}, interruptAt, args = []) {
      const child = launch(settings, args);
      void interruptAt?.then(() => child.kill('SIGTERM'));
      return collect(child);
    },
    async run(args, settings = {}) {
      const own = { LATCHKEY_DATA_DIR: dataDirectory, ...settings };
      const { code, stdout, stderr } = await runLatchkey(args, { directory, settings: own });
      if (code !== 0) throw new Error(`latchkey ${args.join(' ')} failed: ${stderr}`);
      return stdout;
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(children.map(endOf));
      await waitForDatabaseToEnd(dataDirectory);
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}

const IssuedKeys = Type.Array(Type.Object({ license_key: Type.String() }));

/** Issues licenses on the command line and returns their keys. */
export async function issueKeys(
  home: ServiceHome,
  order: { readonly count: number; readonly maxActivations: number },
  settings: Settings = {},
): Promise<readonly string[]> {
  const numbers = ['--count', order.count, '--max-activations', order.maxActivations].map(String);
  const args = ['license', 'issue', '--product', 'personal', ...numbers, '--json'];
  const issued = Parse(IssuedKeys, JSON.parse(await home.run(args, settings)));
  return issued.map(({ license_key: licenseKey }) => licenseKey);
}

/** Lists the processes of the embedded database of a data directory. */
export function listDatabaseProcesses(dataDirectory: string): Promise<number[]> {
  return listProcessesIn(join(dataDirectory, 'postgres'));
}

/** The database of a killed service ends a little later. */
async function waitForDatabaseToEnd(dataDirectory: string): Promise<void> {
  const deadline = Date.now() + END_TIMEOUT_MS;
  while ((await listDatabaseProcesses(dataDirectory)).length > 0) {
    if (Date.now() > deadline) throw new Error(`a database still runs in ${dataDirectory}`);
    await sleep(50);
  }
}

async function follow(child: ChildProcess): Promise<ServiceProcess> {
  const { pid } = child;
  if (pid === undefined) throw new Error('could not start the service');
  const output = readLines(child);
  const ended = endOf(child);
  const [, url = ''] = STARTED.exec(await output.waitFor(STARTED, START_TIMEOUT_MS)) ?? [];
  return {
    url,
    pid,
    lines: output.lines,
    ended,
    send: (signal) => void child.kill(signal),
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return endInTime(child, ended);
    },
    waitForLine: (pattern) => output.waitFor(pattern, LINE_TIMEOUT_MS),
  };
}

async function collect(child: ChildProcess): Promise<EarlyEnd> {
  const { lines } = readLines(child);
  const end = await endInTime(child, endOf(child));
  return { ...end, output: lines.join('\n') };
}

async function endInTime(child: ChildProcess, ended: Promise<ProcessEnd>): Promise<ProcessEnd> {
  const timer = setTimeout(() => child.kill('SIGKILL'), END_TIMEOUT_MS);
  const end = await ended;
  clearTimeout(timer);
  return end;
}

/** Waits for the end of the process and of its output. */
function endOf(child: ChildProcess): Promise<ProcessEnd> {
  const { exitCode, signalCode } = child;
  const isOver = exitCode !== null || signalCode !== null;
  if (isOver && child.stdout?.closed !== false) {
    return Promise.resolve({ code: exitCode, signal: signalCode });
  }
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
}

interface Output {
  readonly lines: readonly string[];
  waitFor(pattern: RegExp, timeoutMs: number): Promise<string>;
}

function readLines(child: ChildProcess): Output {
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  }
  return {
    lines,
    async waitFor(pattern, timeoutMs) {
      const deadline = Date.now() + timeoutMs;
      for (;;) {
        const found = lines.find((line) => pattern.test(line));
        if (found !== undefined) return found;
        const isOver = child.exitCode !== null || child.signalCode !== null;
        if (isOver || Date.now() > deadline) {
          throw new Error(`no line matched ${pattern}:\n${lines.slice(-30).join('\n')}`);
        }
        await sleep(10);
      }
    },
  };
}
