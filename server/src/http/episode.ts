/** Where episodes are logged. */
export interface EpisodeLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** How an episode is named in the log: `<event>_started` and `<event>_ended`. */
export interface EpisodeText {
  readonly event: string;
  readonly started: string;
  readonly ended: string;
}

/** Sweeps without an occurrence after which an episode has ended; at one sweep a second, 10 s. */
const QUIET_SWEEPS = 10;

/**
 * A condition that thousands of requests may meet in a second, logged once when it begins and once when it has ended,
 * with the number of occurrences.
 */
export class Episode {
  readonly #log: EpisodeLog;
  readonly #text: EpisodeText;
  #isActive = false;
  #occurrences = 0;
  #sweeps = 0;
  #quietSweeps = 0;
  #hasOccurred = false;

  constructor(log: EpisodeLog, text: EpisodeText) {
    this.#log = log;
    this.#text = text;
  }

  get isActive(): boolean {
    return this.#isActive;
  }

  /** Counts one occurrence. */
  record(): void {
    this.#occurrences++;
    this.#hasOccurred = true;
    if (this.#isActive) return;
    this.#isActive = true;
    this.#log.warn({ event: `${this.#text.event}_started` }, this.#text.started);
  }

  /**
   * To be called once per interval; ends the episode after ten intervals without an occurrence.
   * @param isPressing whether the cause is still there although nothing met it in this interval
   */
  sweep(isPressing = false): void {
    if (!this.#isActive) return;
    this.#sweeps++;
    this.#quietSweeps = isPressing || this.#hasOccurred ? 0 : this.#quietSweeps + 1;
    this.#hasOccurred = false;
    if (this.#quietSweeps < QUIET_SWEEPS) return;
    const fields = { occurrences: this.#occurrences, intervals: this.#sweeps };
    this.#log.info({ event: `${this.#text.event}_ended`, ...fields }, this.#text.ended);
    this.#isActive = false;
    this.#occurrences = 0;
    this.#sweeps = 0;
  }
}
