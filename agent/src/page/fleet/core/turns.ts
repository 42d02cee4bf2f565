/**
 * How long a connection stays open while others wait for one. A turn costs a TLS handshake and a hello of 20 to 28 kB, so longer turns
 * are cheaper: at 30 s less than 1 kB a second. But a machine must have its next turn within its history of 300 s, or its history
 * has holes: with 1,000 machines and 150 connections a cycle takes 200 s.
 */
const TURN_MS = 30_000;

/**
 * Connections that are being opened at once. Chromium delays each by 1 to 5 s × 2^(n − 16) while n others of the page are being opened
 * (its `websocket_throttler.cc`): with 10 a hundred machines are connected within a second, with 25 it takes seven.
 */
const MAX_CONNECTING = 10;
/** One that takes longer, such as to a machine without power, lets others begin. */
const CONNECTING_MS = 1000;

/** Turns that end at once are spread: so many end in a step. */
const MAX_ENDS = 2;

/** What a step of the scheduler decides. */
export interface TurnStep<T> {
  /** Open a connection for each. */
  readonly start: readonly T[];
  /** Close the connection of each, and release it afterwards. */
  readonly stop: readonly T[];
}

/**
 * Schedules connections: at most `maxOpen` at once, first come, first served. While others wait, those open for longer than
 * a turn end, the longest first. A connection counts until it is released, so also while it closes.
 */
export class Turns<T> {
  readonly #maxOpen: number;
  /** When the connection was granted, oldest first. */
  readonly #open = new Map<T, number>();
  /** Those of `#open` that are being closed. */
  readonly #stopping = new Set<T>();
  /** Those of `#open` that are being opened, and since when. */
  readonly #connecting = new Map<T, number>();
  #queue = new Set<T>();
  readonly #nobody: ReadonlySet<T> = new Set();

  constructor(maxOpen: number) {
    this.#maxOpen = maxOpen;
  }

  /** Those that wait because all connections are in use; empty while some are free. */
  get waiting(): ReadonlySet<T> {
    return this.#open.size >= this.#maxOpen ? this.#queue : this.#nobody;
  }

  /** Queues a machine, unless it is queued or open. @param isFirst before all others, to resume an interrupted turn */
  request(key: T, isFirst = false): void {
    if (this.#open.has(key)) return;
    if (isFirst) this.#queue = new Set([key, ...this.#queue]);
    else this.#queue.add(key);
  }

  /** Records that a connection is open, so that another can begin. */
  opened(key: T): void {
    this.#connecting.delete(key);
  }

  /** Records that a connection is closed, or removes a machine from the queue. */
  release(key: T): void {
    this.#open.delete(key);
    this.#connecting.delete(key);
    this.#stopping.delete(key);
    this.#queue.delete(key);
  }

  /** Decides what to open and close now. @param nowMs in milliseconds */
  step(nowMs: number): TurnStep<T> {
    return { start: this.#grant(nowMs), stop: this.#endTurns(nowMs) };
  }

  #grant(nowMs: number): T[] {
    for (const [key, since] of this.#connecting) {
      if (nowMs - since >= CONNECTING_MS) this.#connecting.delete(key);
    }
    const granted: T[] = [];
    for (const key of this.#queue) {
      if (this.#connecting.size >= MAX_CONNECTING || this.#open.size >= this.#maxOpen) break;
      this.#queue.delete(key);
      this.#open.set(key, nowMs);
      this.#connecting.set(key, nowMs);
      granted.push(key);
    }
    return granted;
  }

  #endTurns(nowMs: number): T[] {
    // Those that are closing make room, too.
    const waiting = Math.min(MAX_ENDS, this.waiting.size - this.#stopping.size);
    const ended: T[] = [];
    for (const [key, since] of this.#open) {
      if (ended.length >= waiting || nowMs - since < TURN_MS) break;
      if (this.#stopping.has(key)) continue;
      this.#stopping.add(key);
      ended.push(key);
    }
    return ended;
  }
}
