import type { Collector } from '../../collector.ts';
import { Child } from '../child.ts';

/** A program that writes readings until it is stopped. */
interface Tool<T> {
  /** Its name in messages. */
  readonly name: string;
  /** The interval of its readings. */
  readonly intervalMs: number;
  /** Returns its path; null while it must not be started. */
  find(): string | null;
  args(): readonly string[];
  /** Returns the newest reading in the end of its output; null without one. */
  parse(output: Buffer): T | null;
  /** Adapts the arguments to an error message; true when the program may be restarted at once. */
  adaptTo?(message: string): boolean;
}

/** A reading is fresh for this many intervals. */
export const FRESH_INTERVALS = 3;

/** A program without a reading for this long hangs; drivers may take seconds to start. */
const SILENCE_TIMEOUT_MS = 30_000;

/** After readings over this time, failures are counted from the start. */
const STEADY_MS = 60_000;

const MAX_BACKOFF_MS = 600_000;

/** The program is stopped after this time without `collect`. */
const IDLE_TIMEOUT_MS = 30_000;

/** How often a missing program is searched again. */
const SEARCH_INTERVAL_MS = 60_000;

/**
 * Runs one instance of a tool and returns its last reading while that is fresh. The first `collect` starts it. It is killed when
 * it hangs or exceeds its output limit, restarted with exponential backoff up to ten minutes, and stopped after half a minute
 * without `collect`.
 */
export class ToolRunner<T> implements Collector<T> {
  readonly #tool: Tool<T>;
  #child: Child | null = null;
  #paused = false;
  #collectedAtMs = Number.NEGATIVE_INFINITY;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #restartAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #reading: T | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(tool: Tool<T>) {
    this.#tool = tool;
  }

  /** @throws {Error} once for each time that the program ended, with its message */
  collect(atMs: number): T | null {
    this.#collectedAtMs = atMs;
    if (this.#child !== null) this.#check(this.#child, atMs);
    else if (atMs >= this.#restartAtMs) this.#start(atMs);
    const isFresh = atMs - this.#readAtMs <= FRESH_INTERVALS * this.#tool.intervalMs;
    return isFresh ? this.#reading : null;
  }

  /** Stops the program until the next `collect`. */
  pause(): void {
    this.#paused = this.#child !== null;
    this.#child?.kill('paused');
  }

  idle(atMs: number): void {
    if (atMs - this.#collectedAtMs > IDLE_TIMEOUT_MS) this.pause();
  }

  close(): void {
    this.#child?.release();
    this.#child = null;
  }

  #start(atMs: number): void {
    // First, so that a failed start is not retried at every tick.
    this.#backOff(atMs);
    const program = this.#tool.find();
    this.#startedAtMs = atMs;
    if (program === null) this.#restartAtMs = atMs + SEARCH_INTERVAL_MS;
    else this.#child = new Child(program, this.#tool.args());
  }

  #check(child: Child, atMs: number): void {
    const ended = child.ended();
    const output = child.readNewOutput();
    const reading = output === null ? null : this.#tool.parse(output);
    if (reading !== null) [this.#reading, this.#readAtMs] = [reading, atMs];
    if (ended !== null) return this.#handleEnd(child, ended, atMs);
    const quietMs = atMs - Math.max(this.#startedAtMs, this.#readAtMs);
    if (quietMs <= Math.max(SILENCE_TIMEOUT_MS, 10 * this.#tool.intervalMs)) return;
    child.kill(`it wrote no reading for ${Math.round(quietMs / 1000)} s`);
  }

  #handleEnd(child: Child, reason: string, atMs: number): void {
    const message = this.#messageOf(child);
    child.release();
    this.#child = null;
    const mayRestart = this.#paused || this.#tool.adaptTo?.(message) === true;
    this.#paused = false;
    if (mayRestart) return this.#start(atMs);
    this.#failures = this.#readAtMs - this.#startedAtMs >= STEADY_MS ? 1 : this.#failures + 1;
    this.#backOff(atMs);
    throw new Error(`${this.#tool.name} ended: ${[reason, message].filter(Boolean).join(': ')}`);
  }

  /** Returns the last lines that are not readings. */
  #messageOf(child: Child): string {
    const isReading = (line: string): boolean =>
      this.#tool.parse(Buffer.from(`${line}\n`)) !== null;
    return child
      .lastLines()
      .filter((line) => !isReading(line))
      .join(' ');
  }

  #backOff(atMs: number): void {
    this.#restartAtMs = atMs + Math.min(MAX_BACKOFF_MS, 1000 * 2 ** this.#failures);
  }
}
