import type { Collector } from '../../collector.ts';
import { Child } from '../child.ts';

/** A program that writes a reading again and again until it is ended. */
interface Tool<T> {
  /** For messages. */
  readonly name: string;
  /** How often it writes, in milliseconds. */
  readonly intervalMs: number;
  /** Its path; null while it is not to be started. Asked seldom. */
  find(): string | null;
  args(): readonly string[];
  /** The newest reading in the end of its output; null when there is none. */
  parse(output: Buffer): T | null;
  /** Whether what it said at its end is mended, so that it can be started again at once. */
  mend?(lastWords: string): boolean;
}

/** What was said counts for so many intervals. */
export const FRESH_INTERVALS = 3;

/** One that has given no reading for so long hangs; drivers may take seconds to get ready. */
const PATIENCE_MS = 30_000;

/** One that gave readings for so long was well. */
const STEADY_MS = 60_000;

const LONGEST_WAIT_MS = 600_000;

/** Who asks again sooner finds it running. */
const LEFT_MS = 30_000;

/** A program that is not there is looked for again this often. */
const LOOK_INTERVAL_MS = 60_000;

/**
 * Keeps one such program running, and gives its last reading while that is fresh. It is started by the first question,
 * ended when it hangs or floods, and started anew after a wait that doubles up to ten minutes. It is ended as well when
 * nobody has asked for half a minute. There are never two.
 */
export class ToolRunner<T> implements Collector<T> {
  readonly #tool: Tool<T>;
  #child: Child | null = null;
  #paused = false;
  #askedAtMs = Number.NEGATIVE_INFINITY;
  #startedAtMs = Number.NEGATIVE_INFINITY;
  #startAgainAtMs = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #reading: T | null = null;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(tool: Tool<T>) {
    this.#tool = tool;
  }

  /** @throws {Error} once each time that it ended by itself, with what it said */
  collect(atMs: number): T | null {
    this.#askedAtMs = atMs;
    if (this.#child !== null) this.#attend(this.#child, atMs);
    else if (atMs >= this.#startAgainAtMs) this.#start(atMs);
    const isFresh = atMs - this.#readAtMs <= FRESH_INTERVALS * this.#tool.intervalMs;
    return isFresh ? this.#reading : null;
  }

  /** Ends the program until the next question. */
  pause(): void {
    this.#paused = this.#child !== null;
    this.#child?.kill('paused');
  }

  rest(atMs: number): void {
    if (atMs - this.#askedAtMs > LEFT_MS) this.pause();
  }

  close(): void {
    this.#child?.release();
    this.#child = null;
  }

  #start(atMs: number): void {
    // Before anything that may fail, so that it is not tried at every tick.
    this.#wait(atMs);
    const program = this.#tool.find();
    this.#startedAtMs = atMs;
    if (program === null) this.#startAgainAtMs = atMs + LOOK_INTERVAL_MS;
    else this.#child = new Child(program, this.#tool.args());
  }

  #attend(child: Child, atMs: number): void {
    const ended = child.ended();
    const output = child.readNews();
    const reading = output === null ? null : this.#tool.parse(output);
    if (reading !== null) [this.#reading, this.#readAtMs] = [reading, atMs];
    if (ended !== null) return this.#noteEnd(child, ended, atMs);
    const quietMs = atMs - Math.max(this.#startedAtMs, this.#readAtMs);
    if (quietMs <= Math.max(PATIENCE_MS, 10 * this.#tool.intervalMs)) return;
    child.kill(`it gave no reading for ${Math.round(quietMs / 1000)} s`);
  }

  #noteEnd(child: Child, reason: string, atMs: number): void {
    const lastWords = this.#lastWordsOf(child);
    child.release();
    this.#child = null;
    const needsNoWait = this.#paused || this.#tool.mend?.(lastWords) === true;
    this.#paused = false;
    if (needsNoWait) return this.#start(atMs);
    this.#failures = this.#readAtMs - this.#startedAtMs >= STEADY_MS ? 1 : this.#failures + 1;
    this.#wait(atMs);
    throw new Error(`${this.#tool.name} ended: ${[reason, lastWords].filter(Boolean).join(': ')}`);
  }

  /** What it said apart from readings. */
  #lastWordsOf(child: Child): string {
    const isReading = (line: string): boolean =>
      this.#tool.parse(Buffer.from(`${line}\n`)) !== null;
    return child
      .lastLines()
      .filter((line) => !isReading(line))
      .join(' ');
  }

  #wait(atMs: number): void {
    this.#startAgainAtMs = atMs + Math.min(LONGEST_WAIT_MS, 1000 * 2 ** this.#failures);
  }
}
