import { isNoAnswer, type NoAnswer, type Result } from '../answers/results.ts';
import { checkWaitMs } from './schedule.ts';
import type { Trigger } from './trigger.ts';

/** What a background does; each of these ends without an exception. */
export interface BackgroundWork {
  readonly check: (trigger: Trigger) => Promise<Result>;
  readonly flush: () => Promise<Result>;
  /** Whether the state changed by time alone, for those who watch it. */
  readonly notify: () => void;
  /** Whether there may be a license that could not be read yet: the next check then comes as soon as after no answer. */
  readonly isUnread: () => boolean;
  readonly now: () => number;
  readonly random: () => number;
  /** Describes the network; another text means another one. Null: it is not known. */
  readonly network: () => string | null;
}

const TICK_MS = 60_000;
/** A longer time between two ticks means that the computer slept, or that its clock was set, forward or back. */
const WAKE_MS = 5 * 60_000;
const FOREGROUND_MS = 60_000;

/** Checks from time to time, and sends events. Its timer does not keep a process alive. */
export class Background {
  readonly #work: BackgroundWork;
  #timer: ReturnType<typeof setInterval> | undefined;
  #lastTickMs = 0;
  #checkInMs = 0;
  #flushInMs = 0;
  #failures = 0;
  #flushFailures = 0;
  #focusedAtMs = -Infinity;
  #network: string | null = null;

  constructor(work: BackgroundWork) {
    this.#work = work;
  }

  /** Checks now, and from now on. */
  start(): void {
    if (this.#timer !== undefined) return;
    this.#lastTickMs = this.#work.now();
    this.#network = this.#work.network();
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    if (typeof this.#timer === 'object') this.#timer.unref();
    void this.#check('startup');
    void this.#flush();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** The program came to the front; nothing happens more often than once a minute, or without {@link start}. */
  noticeFocus(): void {
    const nowMs = this.#work.now();
    const sinceMs = Math.abs(nowMs - this.#focusedAtMs);
    if (this.#timer === undefined || sinceMs < FOREGROUND_MS) return;
    this.#focusedAtMs = nowMs;
    void this.#check('foreground');
  }

  /** The network is back, as a browser reports. */
  noticeNetwork(): void {
    if (this.#timer !== undefined) void this.#check('reconnect');
  }

  /**
   * A call of the program was not answered: what waits for the service, such as a trial, is sent within a minute, and when the network
   * returns, not a day later.
   */
  noticeFailure({ retryAfterMs }: NoAnswer): void {
    // A running check plans the next one.
    if (this.#checkInMs === Infinity) return;
    this.#failures = Math.max(1, this.#failures);
    const waitMs = checkWaitMs(this.#failures, retryAfterMs, this.#work.random());
    this.#checkInMs = Math.min(this.#checkInMs, waitMs);
  }

  #tick(): void {
    const nowMs = this.#work.now();
    const passedMs = nowMs - this.#lastTickMs;
    this.#lastTickMs = nowMs;
    // A clock that was set back counts as a tick.
    this.#checkInMs -= Math.max(TICK_MS, passedMs);
    this.#flushInMs -= Math.max(TICK_MS, passedMs);
    this.#work.notify();
    const trigger = this.#findTrigger(passedMs);
    if (trigger !== null) void this.#check(trigger);
    if (this.#flushInMs <= 0) void this.#flush();
  }

  #findTrigger(passedMs: number): Trigger | null {
    const before = this.#network;
    this.#network = this.#work.network();
    if (Math.abs(passedMs) > WAKE_MS) return 'wake';
    if (this.#failures > 0 && before !== this.#network) return 'reconnect';
    return this.#checkInMs <= 0 ? 'scheduled' : null;
  }

  async #check(trigger: Trigger): Promise<void> {
    this.#checkInMs = Infinity;
    const result = await this.#work.check(trigger);
    const { failures, waitMs } = this.#plan(this.#failures, result, this.#work.isUnread());
    this.#failures = failures;
    this.#checkInMs = waitMs;
  }

  async #flush(): Promise<void> {
    this.#flushInMs = Infinity;
    const { failures, waitMs } = this.#plan(this.#flushFailures, await this.#work.flush());
    this.#flushFailures = failures;
    this.#flushInMs = failures === 0 ? 0 : waitMs;
  }

  #plan(
    before: number,
    result: Result,
    isUnread = false,
  ): { readonly failures: number; readonly waitMs: number } {
    const failures = isUnread || isNoAnswer(result) ? before + 1 : 0;
    const askedMs = isNoAnswer(result) ? result.retryAfterMs : 0;
    return { failures, waitMs: checkWaitMs(failures, askedMs, this.#work.random()) };
  }
}
