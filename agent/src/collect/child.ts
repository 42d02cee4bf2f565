import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** The size of the stored end of the output: more than nvidia-smi writes at once for 64 cards. */
const OUTPUT_BYTES = 32 * 1024;

const ERROR_BYTES = 2048;

const LAST_LINES = 3;

/** A program that writes more than this between two ticks is killed. */
const MAX_BYTES_BETWEEN_READS = 1024 * 1024;

/** Variables that the program needs to find its libraries; others may contain secrets. */
const PASSED_VARIABLES = ['PATH', 'LD_LIBRARY_PATH', 'HOME'];

/** A child process with the end of its output. */
export class Child {
  readonly #process: ChildProcess;
  readonly #output: Tail;
  readonly #errors = new Tail(ERROR_BYTES);
  #exit: string | null = null;
  #exitStatus: number | null = null;
  #ended: string | null = null;
  #killedFor: string | null = null;
  #bytesSinceRead = 0;

  /**
   * Starts the program without standard input; `ended` returns why it could not be started.
   * @param outputBytes the size of the stored end of its output
   */
  constructor(program: string, args: readonly string[], outputBytes = OUTPUT_BYTES) {
    this.#output = new Tail(outputBytes);
    this.#process = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
    this.#process.on('error', (error) => {
      this.#ended ??= error.message;
    });
    this.#process.on('exit', (code, signal) => {
      this.#exitStatus = code;
      this.#exit = `exit code ${code ?? signal ?? 'unknown'}`;
    });
    this.#process.on('close', () => {
      this.#ended ??= this.#exit;
    });
    this.#listen(this.#process.stdout, this.#output);
    this.#listen(this.#process.stderr, this.#errors);
  }

  /** Returns why the program ended, in a few words; null while it runs. */
  ended(): string | null {
    const ended = this.#ended;
    // Output may arrive after the exit, but a child of the program may keep the pipe open for ever.
    this.#ended ??= this.#exit;
    return ended === null ? null : (this.#killedFor ?? ended);
  }

  /** Returns the exit status; null while the program runs, and when a signal ended it. */
  exitStatus(): number | null {
    return this.#exitStatus;
  }

  /** Returns the last lines of standard error or, without any, of standard output. */
  lastLines(): string[] {
    const errors = this.#errors.lastLines(LAST_LINES);
    return errors.length > 0 ? errors : this.#output.lastLines(LAST_LINES);
  }

  /** Returns the end of the output; null when nothing was written since the last call. */
  readNewOutput(): Buffer | null {
    if (this.#bytesSinceRead === 0) return null;
    this.#bytesSinceRead = 0;
    return this.#output.bytes();
  }

  /** Kills the program. It remains while a driver blocks it in the kernel. */
  kill(reason: string): void {
    if (this.#killedFor !== null) return;
    this.#killedFor = reason;
    this.#process.kill('SIGKILL');
  }

  /** Kills the program without waiting, so that this process can end although a driver blocks the program. */
  release(): void {
    this.kill('no longer needed');
    this.#process.stdout?.destroy();
    this.#process.stderr?.destroy();
    this.#process.unref();
  }

  #listen(stream: Readable | null, tail: Tail): void {
    stream?.on('data', (chunk: Buffer) => {
      tail.push(chunk);
      this.#bytesSinceRead += chunk.length;
      if (this.#bytesSinceRead > MAX_BYTES_BETWEEN_READS) this.kill('it exceeded its output limit');
    });
    stream?.on('error', (error) => this.kill(error.message));
  }
}

function environment(): NodeJS.ProcessEnv {
  const passed = PASSED_VARIABLES.map((name) => [name, process.env[name]]);
  return { ...Object.fromEntries(passed), LC_ALL: 'C' };
}

const MAX_LINE_LENGTH = 200;

/** A ring of the last bytes that a program wrote. */
class Tail {
  readonly #buffer: Buffer;
  #length = 0;

  constructor(capacityBytes: number) {
    this.#buffer = Buffer.alloc(capacityBytes);
  }

  push(chunk: Buffer): void {
    const { length: capacity } = this.#buffer;
    const added = chunk.subarray(Math.max(0, chunk.length - capacity));
    const kept = Math.min(this.#length, capacity - added.length);
    this.#buffer.copyWithin(0, this.#length - kept, this.#length);
    added.copy(this.#buffer, kept);
    this.#length = kept + added.length;
  }

  /** Returns the stored bytes; valid until the next `push`. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Returns the last non-empty lines, each of at most 200 characters. */
  lastLines(count: number): string[] {
    const lines = this.bytes().toString('utf8').split('\n');
    const words = lines.map((line) => line.trim().slice(0, MAX_LINE_LENGTH));
    return words.filter((line) => line !== '').slice(-count);
  }
}
