import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';

import { parseAnswer, type Answer } from './answer.ts';

/** A command for a driver; `do` is its name. */
export interface Command {
  readonly do: string;
  readonly [field: string]: unknown;
}

/** How to start a driver. */
export interface DriverProgram {
  readonly command: readonly string[];
  /** The working directory. */
  readonly folder: string;
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** More than the timeout of any call; a driver that is slower hangs. */
const ANSWER_TIMEOUT_MS = 30_000;

/** How long a driver may take to end after `close`. */
const END_TIMEOUT_MS = 5_000;

/** Settings that would send the requests of the client elsewhere. */
const PROXY_SETTING = /^(?:https?|all|no)_proxy$/iu;

/** A running driver. */
export class Driver {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ended: Promise<unknown[]>;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  constructor({ command, folder, environment }: DriverProgram) {
    const [program = '', ...args] = command;
    const env = { ...driverEnvironment(), ...environment };
    this.#child = spawn(program, args, { cwd: folder, env });
    this.#ended = once(this.#child, 'close');
    // Reported by the next `ask`, which finds no answer.
    this.#ended.catch((error: unknown) => void (this.#errors += String(error)));
    this.#child.stdin.on('error', (error) => void (this.#errors += String(error)));
    this.#child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => void (this.#errors += text));
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Sends a command and returns the answer. @throws Error without a valid one in time */
  async ask(command: Command): Promise<Answer> {
    this.#child.stdin.write(`${JSON.stringify(command)}\n`);
    const line = await this.#readLine(command.do);
    return parseAnswer(line);
  }

  /** Ends the program with `close`. @throws Error if it does not answer, or does not end with 0 in time */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    await this.ask({ do: 'close' });
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_TIMEOUT_MS);
    const [code]: unknown[] = await this.#ended;
    clearTimeout(timer);
    if (code !== 0) throw this.#fail(`ended with ${String(code)} instead of 0 after close`);
  }

  /** Kills the program, as a power failure does. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended.catch(() => []);
  }

  async #readLine(name: string): Promise<string> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), ANSWER_TIMEOUT_MS);
    const { value, done } = await this.#lines.next();
    clearTimeout(timer);
    if (done === true) {
      await this.#ended.catch(() => []);
      throw this.#fail(`ended, or took more than 30 s, without an answer to ${name}`);
    }
    return value;
  }

  #fail(what: string): Error {
    const errors = this.#errors.trim().split('\n').slice(-15).join('\n');
    return new Error(`the driver ${what}${errors === '' ? '' : `:\n${errors}`}`);
  }
}

/** The environment at the start: commands of the service replace that of the process while they run. */
const ENVIRONMENT = { ...process.env };

/** This Node.js comes first, since drivers in TypeScript need it. */
export function driverEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(ENVIRONMENT).filter(([name]) => !PROXY_SETTING.test(name));
  const path = `${dirname(process.execPath)}:${ENVIRONMENT['PATH'] ?? ''}`;
  return { ...Object.fromEntries(kept), PATH: path };
}
