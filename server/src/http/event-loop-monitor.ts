/** The log of blocks. */
interface BlockLog {
  warn(fields: object, message: string): void;
}

export interface EventLoopMonitorOptions {
  readonly log: BlockLog;
  /** Called at each sample. */
  readonly observeDelay: (seconds: number) => void;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
  /** Microseconds of processor time that this thread has used. */
  readonly readCpuUs?: () => number;
}

/** The interval of samples. */
const EVENT_LOOP_SAMPLE_MS = 100;

/** A longer delay of the event loop is logged. */
const BLOCKED_MS = 1_000;

/** Two requests, one after the other, between which no code of a request ran for a time. */
interface Gap {
  readonly endMs: number;
  /** The route of a request that had begun; null: the last code was the end of a request. */
  readonly before: string | null;
  /** The route of a request that ended; null: the first code was the begin of a request. */
  readonly after: string | null;
}

/**
 * Measures how late the event loop runs a timer, and logs each delay above a second, once, with the routes that may have caused
 * it. JavaScript cannot report which function ran, so the monitor notes when a request begins to be processed (its body
 * is read) and when its response is complete. Between the last of these times before a block and the first one after it,
 * the code of one of the two requests ran, or code of none: a background task, or another program while the computer had no
 * time for this one. A request that began after the block, or had ended before it, is not listed.
 */
export class EventLoopMonitor {
  readonly #log: BlockLog;
  readonly #observeDelay: (seconds: number) => void;
  readonly #now: () => number;
  readonly #readCpuUs: () => number;
  #timer: NodeJS.Timeout | undefined;
  #sampledMs = 0;
  #cpuUs = 0;
  /** The last time at which a request began or ended. */
  #seenMs = Number.NEGATIVE_INFINITY;
  /** The route of the request that began then; null: it ended. */
  #begun: string | null = null;
  #gap: Gap | null = null;

  constructor(options: EventLoopMonitorOptions) {
    this.#log = options.log;
    this.#observeDelay = options.observeDelay;
    this.#now = options.now ?? (() => performance.now());
    this.#readCpuUs = options.readCpuUs ?? readThreadCpuUs;
  }

  start(): void {
    this.#sampledMs = this.#now();
    this.#cpuUs = this.#readCpuUs();
    this.#timer = setInterval(() => this.sample(), EVENT_LOOP_SAMPLE_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Notes that the processing of a request begins. @param route its pattern */
  recordBegin(route: string): void {
    this.#note(null);
    this.#begun = route;
  }

  /** Notes that a response is complete. @param route its pattern */
  recordEnd(route: string): void {
    this.#note(route);
    this.#begun = null;
  }

  /** To be called at the interval; a late call is a delay of the event loop. */
  sample(): void {
    const now = this.#now();
    const cpuUs = this.#readCpuUs();
    const delayMs = Math.max(0, now - this.#sampledMs - EVENT_LOOP_SAMPLE_MS);
    this.#observeDelay(delayMs / 1_000);
    if (delayMs > BLOCKED_MS) this.#logBlock(now, delayMs, cpuUs - this.#cpuUs);
    this.#sampledMs = now;
    this.#cpuUs = cpuUs;
  }

  #note(ended: string | null): void {
    const now = this.#now();
    if (now - this.#seenMs > BLOCKED_MS) {
      this.#gap = { endMs: now, before: this.#begun, after: ended };
    }
    this.#seenMs = now;
  }

  #logBlock(now: number, delayMs: number, cpuUs: number): void {
    const fields = {
      event: 'http.event_loop_blocked',
      durationMs: Math.round(delayMs),
      cpuMs: Math.round(cpuUs / 1_000),
      routes: this.#listSuspects(now),
    };
    this.#log.warn(fields, 'event loop was blocked: no request was served');
  }

  #listSuspects(now: number): readonly string[] {
    // The block is the present gap, or it ended since the last sample.
    const isOpen = now - this.#seenMs > BLOCKED_MS;
    const gap = isOpen ? { endMs: now, before: this.#begun, after: null } : this.#gap;
    if (gap === null || gap.endMs <= this.#sampledMs) return [];
    return [...new Set([gap.before, gap.after])].filter((route) => route !== null);
  }
}

function readThreadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}
