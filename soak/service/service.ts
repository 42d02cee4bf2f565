import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { openSync, closeSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { messageOf } from '#server/lib/unknown-values.ts';

const COMMAND = fileURLToPath(new URL('../../server/bin/latchkey.mjs', import.meta.url));

/** After a crash the database recovers first. */
const START_TIMEOUT_MS = 120_000;
const STOP_TIMEOUT_MS = 60_000;
const READY_TIMEOUT_MS = 5_000;
const POLL_MS = 50;
const RESTART_DELAY_MS = 500;

/** Environment variables by name. */
export type Settings = Readonly<Record<string, string>>;

export interface ServiceOptions {
  /** The working directory. */
  readonly directory: string;
  readonly logFile: string;
  readonly port: number;
  readonly settings: Settings;
  /** The number of `serve --workers`; null: the option is not passed. */
  readonly workers: number | null;
  /** Is called when the service ends although it was not stopped; it is started again, as by systemd. */
  readonly onUnexpectedEnd: (end: string) => void;
}

/** `latchkey serve` as a process, which can be killed and started again on the same port. */
export class Service {
  readonly #options: ServiceOptions;
  #child: ChildProcess | null = null;
  #isEnding = false;

  constructor(options: ServiceOptions) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#options.port}`;
  }

  /** The process id; null while it does not run. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Starts the service and waits until it is ready. @throws Error with the end of its log */
  async start(more: Settings = {}): Promise<void> {
    if (this.#child !== null) throw new Error('The service runs already.');
    const child = this.#spawn(more);
    this.#child = child;
    this.#isEnding = false;
    let isStarted = false;
    child.once('exit', (code, signal) => {
      if (this.#child === child) this.#child = null;
      if (isStarted && !this.#isEnding) void this.#restart(signal ?? `exit code ${String(code)}`);
    });
    const deadline = performance.now() + START_TIMEOUT_MS;
    while (!(await this.isReady())) {
      if (this.#child !== child || performance.now() > deadline) {
        throw new Error(`The service did not start. It printed:\n${await this.#readLogEnd()}`);
      }
      await sleep(POLL_MS);
    }
    isStarted = true;
  }

  /** Whether the service and its database answer on a new connection. */
  isReady(): Promise<boolean> {
    const options = { agent: false, timeout: READY_TIMEOUT_MS };
    return new Promise((resolve) => {
      const sent = get(`${this.url}/api/v1/health/ready`, options, (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      });
      sent.on('timeout', () => sent.destroy());
      // It does not listen yet, or does not answer.
      sent.on('error', () => resolve(false));
    });
  }

  /** Kills the process, without its children. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops the service. Returns its exit code or signal; null if it did not run. */
  async stop(): Promise<string | null> {
    return this.#end('SIGTERM');
  }

  async #restart(end: string): Promise<void> {
    this.#options.onUnexpectedEnd(end);
    await sleep(RESTART_DELAY_MS);
    try {
      if (this.#child === null && !this.#isEnding) await this.start();
    } catch (error) {
      this.#options.onUnexpectedEnd(messageOf(error));
    }
  }

  async #end(signal: NodeJS.Signals): Promise<string | null> {
    this.#isEnding = true;
    const child = this.#child;
    if (child === null) return null;
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    const exited: Promise<unknown[]> = once(child, 'exit');
    child.kill(signal);
    const [code, by] = await exited;
    clearTimeout(timer);
    return typeof by === 'string' ? by : `exit code ${String(code)}`;
  }

  #spawn(more: Settings): ChildProcess {
    const { directory, logFile, port, settings, workers } = this.#options;
    const log = openSync(logFile, 'a');
    const args = [COMMAND, 'serve', ...(workers === null ? [] : ['--workers', String(workers)])];
    const child = spawn(process.execPath, args, {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        HOME: directory,
        // The service ends with the process that started it, as under npm; also when that is killed.
        npm_lifecycle_event: 'soak',
        LATCHKEY_PORT: String(port),
        ...settings,
        ...more,
      },
      stdio: ['ignore', log, log],
      // Ctrl-C reaches only this process, which stops the service.
      detached: true,
    });
    closeSync(log);
    return child;
  }

  async #readLogEnd(): Promise<string> {
    return (await readFile(this.#options.logFile, 'utf8')).slice(-3_000).trim();
  }
}
