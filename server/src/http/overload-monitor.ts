/**
 * `normal`; `overloaded`: requests were refused for lack of memory in the last ten seconds; `refusing`: for five
 * seconds of such an episode more were refused than served, and the episode has not ended.
 */
export type LoadState = 'normal' | 'overloaded' | 'refusing';

/** The limits of the HTTP layer that refuse requests or close connections; labels of a metric. */
export type HttpLimit =
  | 'memory'
  | 'network_memory'
  | 'network_connections'
  | 'body_progress'
  | 'write_progress';

/** Sweeps in which most requests are refused, after which the readiness probe fails. */
const REFUSING_SWEEPS = 5;

const OVERLOAD = {
  event: 'http.overload',
  started: 'refusing requests: the memory for request bodies is exhausted',
  ended: 'serving all requests again',
};
const NETWORK_SHARE = {
  event: 'http.network_share_exceeded',
  started: 'refusing requests of a client network that uses its share of the memory for bodies',
  ended: 'no client network exceeds its share of the memory for bodies any more',
};
const STALLED_BODIES = {
  event: 'http.stalled_bodies',
  started: 'closing connections whose request bodies make no progress',
  ended: 'no request body stalls any more',
};

const NETWORK_CONNECTIONS = {
  event: 'http.network_connections_exceeded',
  started: 'closing new connections of a client network that uses its share of them',
  ended: 'no client network exceeds its share of the connections any more',
};
const STALLED_WRITES = {
  event: 'http.stalled_writes',
  started: 'closing connections whose clients do not read their responses',
  ended: 'all clients read their responses again',
};

export interface EpisodeLog {
  warn(fields: object, message: string): void;
  info(fields: object, message: string): void;
}

/** The log lines of an episode: `<event>_started` and `<event>_ended`. */
interface EpisodeText {
  readonly event: string;
  readonly started: string;
  readonly ended: string;
}

/** Sweeps without an occurrence after which an episode has ended; at one sweep a second, 10 s. */
const QUIET_SWEEPS = 10;

/**
 * A condition that thousands of requests may meet in a second, logged once when it starts and once when it has ended,
 * with the number of occurrences.
 */
class Episode {
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
   * @param isPressing whether the cause persists although no request met it in this interval
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

/** Determines the load state of the HTTP layer, and logs its changes. */
export class OverloadMonitor {
  readonly #episodes: Readonly<Record<HttpLimit, Episode>>;
  readonly #count: (limit: HttpLimit) => void;
  #served = 0;
  #refused = 0;
  #refusingSweeps = 0;

  /** @param count is called for each request or connection that a limit ended */
  constructor(log: EpisodeLog, count: (limit: HttpLimit) => void) {
    this.#count = count;
    this.#episodes = {
      memory: new Episode(log, OVERLOAD),
      network_memory: new Episode(log, NETWORK_SHARE),
      network_connections: new Episode(log, NETWORK_CONNECTIONS),
      body_progress: new Episode(log, STALLED_BODIES),
      write_progress: new Episode(log, STALLED_WRITES),
    };
  }

  get state(): LoadState {
    if (!this.#episodes.memory.isActive) return 'normal';
    return this.#refusingSweeps >= REFUSING_SWEEPS ? 'refusing' : 'overloaded';
  }

  recordServed(): void {
    this.#served++;
  }

  /** Records a request or connection that a limit ended. */
  recordLimited(limit: HttpLimit): void {
    if (limit === 'memory') this.#refused++;
    this.#count(limit);
    this.#episodes[limit].record();
  }

  /** To be called once a second. @param isExhausted whether almost no memory for bodies is free */
  sweep(isExhausted: boolean): void {
    this.#updateRefusingSweeps();
    const { memory, ...others } = this.#episodes;
    memory.sweep(isExhausted);
    for (const episode of Object.values(others)) episode.sweep();
    if (!memory.isActive) this.#refusingSweeps = 0;
  }

  /**
   * Once `refusing`, the state remains until the episode ends: traffic that moved to other processes must not change it
   * back.
   */
  #updateRefusingSweeps(): void {
    const isSettled = this.#refusingSweeps >= REFUSING_SWEEPS;
    if (!isSettled && this.#served + this.#refused > 0) {
      this.#refusingSweeps = this.#refused > this.#served ? this.#refusingSweeps + 1 : 0;
    }
    this.#served = 0;
    this.#refused = 0;
  }
}
