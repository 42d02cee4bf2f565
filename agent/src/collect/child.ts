import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/** Of its output so much is kept: more than what nvidia-smi says at once of a machine with 64 cards. */
const OUTPUT_BYTES = 32 * 1024;

const ERROR_BYTES = 2048;

const LAST_LINES = 3;

/** A program that writes more than this between two ticks has gone mad. */
const FLOOD_BYTES = 1024 * 1024;

/** What such a program needs to find its libraries; the rest of our environment may hold secrets. */
const PASSED_ON = ['PATH', 'LD_LIBRARY_PATH', 'HOME'];

/** A program that was started, of whose output the end is kept. */
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
   * Starts it, with nothing to read from; that it could not be started is told by `ended`.
   * @param outputBytes how much of the end of its output is kept
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

  /** Why it is no more, in a few words; null while it is there. */
  ended(): string | null {
    const ended = this.#ended;
    // What it wrote last may come after its end; but a child of its own may hold its output for ever.
    this.#ended ??= this.#exit;
    return ended === null ? null : (this.#killedFor ?? ended);
  }

  /** The status with which it ended by itself; null while it is there, and when a signal ended it. */
  exitStatus(): number | null {
    return this.#exitStatus;
  }

  /** The last lines of what it wrote on standard error or, without such, on standard output. */
  lastLines(): string[] {
    const errors = this.#errors.lastLines(LAST_LINES);
    return errors.length > 0 ? errors : this.#output.lastLines(LAST_LINES);
  }

  /** The end of its output, when it wrote anything since the last call; else null. */
  readNews(): Buffer | null {
    if (this.#bytesSinceRead === 0) return null;
    this.#bytesSinceRead = 0;
    return this.#output.bytes();
  }

  /** Ends it at once. While the driver holds it, it stays until that lets go. */
  kill(reason: string): void {
    if (this.#killedFor !== null) return;
    this.#killedFor = reason;
    this.#process.kill('SIGKILL');
  }

  /** Ends it, if it is there, and waits for nothing: this program can end although a driver holds that one. */
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
      if (this.#bytesSinceRead > FLOOD_BYTES) this.kill('it wrote without end');
    });
    stream?.on('error', (error) => this.kill(error.message));
  }
}

function environment(): NodeJS.ProcessEnv {
  const passed = PASSED_ON.map((name) => [name, process.env[name]]);
  return { ...Object.fromEntries(passed), LC_ALL: 'C' };
}

const MAX_LINE_LENGTH = 200;

/** The last bytes that a program wrote: a buffer of fixed size, however much comes. */
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

  /** What was written last; valid until more is. */
  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The last lines with anything in them, each of at most 200 characters. */
  lastLines(count: number): string[] {
    const lines = this.bytes().toString('utf8').split('\n');
    const words = lines.map((line) => line.trim().slice(0, MAX_LINE_LENGTH));
    return words.filter((line) => line !== '').slice(-count);
  }
}
