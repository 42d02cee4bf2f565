/** A point may arrive this long before or after its slot, so that jitter does not move a machine to and fro. */
const TOLERANCE_MS = 250;

/** So many late messages in a row are no jitter: the clocks have drifted apart. */
const LATE_MESSAGES = 5;

/** The agent's clock was set back if a point is older than the one before by more. */
const BACKWARD_MS = 1500;

/** Earlier points move with a correction up to this; a larger one means that the agent's clock was set. */
const MAX_DRIFT_SLOTS = 2;

/**
 * Maps the times of one agent, whose clock may be wrong, to seconds of this page's clock. The newest point of a message belongs to
 * the second in which it arrived; older ones lie before it by the differences of the agent's times, so several points in one message
 * keep their distances. The mapping then stays, and rounds to whole seconds around the agent's own ticks: a message that is late in
 * the network still fills its own second. It is corrected when a message arrives too early, which no network causes, when
 * five in a row are late, or when the agent's clock was set back.
 */
export class ArrivalAlignment {
  /** Added to the agent's time to get that of this page, so that a tick falls on a whole second; null before the first message. */
  #shiftMs: number | null = null;
  #newestMs = Number.NEGATIVE_INFINITY;
  #lateMessages = 0;
  /** Whether only a hello was seen, whose newest point may have waited for up to an interval. */
  #isProvisional = true;

  /** Returns the end of the second to which a time of the agent belongs, in epoch seconds. */
  slotOf(agentMs: number): number {
    return Math.round((agentMs + (this.#shiftMs ?? 0)) / 1000);
  }

  /**
   * Considers the newest point of a message with points.
   * @returns the number of slots by which earlier points must move, negative: to the past
   */
  observe(agentMs: number, arrivedMs: number): number {
    const wasSetBack = agentMs < this.#newestMs - BACKWARD_MS;
    this.#newestMs = agentMs;
    if (this.#shiftMs === null) return this.#correct(agentMs, arrivedMs);
    const lateMs = arrivedMs - this.slotOf(agentMs) * 1000;
    const isEarly = lateMs <= -1000 - TOLERANCE_MS;
    this.#lateMessages = lateMs > TOLERANCE_MS ? this.#lateMessages + 1 : 0;
    if (wasSetBack || isEarly || this.#lateMessages >= LATE_MESSAGES) {
      return this.#correct(agentMs, arrivedMs);
    }
    this.#isProvisional = false;
    return 0;
  }

  /**
   * Considers the newest point of a hello, which was up to an interval old when it was sent. A mapping that fits is kept, so that the
   * history of a new connection falls on the same seconds as what is already there.
   */
  observeHello(agentMs: number, arrivedMs: number, intervalSeconds: number): void {
    this.#newestMs = agentMs;
    this.#lateMessages = 0;
    const lateMs = arrivedMs - this.slotOf(agentMs) * 1000;
    const latestMs = (intervalSeconds + 1) * 1000 + TOLERANCE_MS;
    const fits = lateMs > -1000 - TOLERANCE_MS && lateMs <= latestMs;
    if (this.#shiftMs !== null && fits) return;
    this.#shiftMs = Math.ceil(arrivedMs / 1000) * 1000 - agentMs;
    this.#isProvisional = true;
  }

  /** Follows this page's clock after it was set back. */
  relabel(seconds: number): void {
    if (this.#shiftMs !== null) this.#shiftMs += seconds * 1000;
  }

  #correct(agentMs: number, arrivedMs: number): number {
    const slot = Math.ceil(arrivedMs / 1000);
    const slots = this.#shiftMs === null ? 0 : slot - this.slotOf(agentMs);
    const moves = this.#isProvisional || Math.abs(slots) <= MAX_DRIFT_SLOTS;
    this.#shiftMs = slot * 1000 - agentMs;
    this.#lateMessages = 0;
    this.#isProvisional = false;
    return moves ? slots : 0;
  }
}
