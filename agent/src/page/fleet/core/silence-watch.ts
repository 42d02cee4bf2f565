/** Messages come once per interval; this is for the network and for a busy browser. */
const SLACK_MS = 1500;

/** A handshake takes up to four round trips, so a hello within this is normal even over a satellite. */
const FIRST_ANSWER_MS = 2500;

/** A connection without a message for this long is closed, as the machine may have lost its power. */
const DEAD_MS = 10_000;

/** How fast the expected number of points in a message shrinks: messages of a turn differ by one point. */
const BATCH_DECAY = 0.25;

/**
 * Decides when a machine is silent. An agent sends a point at each interval; with more than 250 viewers, each gets several at
 * once (ten at most), so the allowance is the time of as many points as came together lately, plus 1.5 s: 2.5 s for most agents, and
 * 5.5 s for one that sends four points every four seconds. An agent that begins to send several at once may be reported silent until
 * its first such message.
 */
export class SilenceWatch {
  /** The points that come in one message, lately. */
  #batch = 1;
  #allowanceMs = FIRST_ANSWER_MS;
  /** When messages were expected to begin, or the last one arrived. */
  #sinceMs = 0;
  #lastSignMs = 0;

  /** When the last message arrived, or the first was expected. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  /** A socket was opened. @param isLive it replaces a lost one, so the silence goes on */
  open(nowMs: number, isLive: boolean): void {
    this.#lastSignMs = nowMs;
    if (isLive) return;
    this.#sinceMs = nowMs;
    this.#allowanceMs = FIRST_ANSWER_MS;
  }

  /** A hello arrived; the first point follows within an interval. */
  greet(nowMs: number, intervalSeconds: number): void {
    this.#batch = 1;
    this.hear(nowMs, 1, intervalSeconds);
  }

  /** Points arrived. */
  hear(nowMs: number, points: number, intervalSeconds: number): void {
    this.#batch = Math.max(points, this.#batch - BATCH_DECAY);
    this.#allowanceMs = this.#batch * intervalSeconds * 1000 + SLACK_MS;
    this.#sinceMs = nowMs;
    this.#lastSignMs = nowMs;
  }

  isSilent(nowMs: number): boolean {
    return nowMs - this.#sinceMs > this.#allowanceMs;
  }

  /** Whether the socket should be given up. */
  isDead(nowMs: number): boolean {
    return nowMs - this.#lastSignMs > Math.max(DEAD_MS, 2 * this.#allowanceMs);
  }

  shiftClock(ms: number): void {
    this.#sinceMs += ms;
    this.#lastSignMs += ms;
  }
}
