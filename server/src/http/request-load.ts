import { type Reservation, SharedBudget } from '#server/lib/shared-budget.ts';
import type { LoadState, OverloadMonitor } from './overload-monitor.ts';
import { DEFAULT_BODY_LIMIT_BYTES } from './server-options.ts';

/** Memory of a request beside its body: headers, objects, its entry in a queue. */
const REQUEST_BYTES = 4 * 1024;

/** How much memory all requests may reserve together. */
export interface MemoryLimits {
  /** For requests whose bodies have at most the usual length. */
  readonly usualBytes: number;
  /** For requests with larger bodies, so that they cannot use all memory. */
  readonly largeBytes: number;
}

/** A body that is being read, and is checked once a second. */
interface MonitoredBody {
  check(): void;
}

/** How much memory is reserved, of how much. */
export interface MemoryUse {
  readonly usedBytes: number;
  readonly maxBytes: number;
}

/** The memory that the requests in progress have reserved, shared out among client networks. */
export class LoadControl {
  readonly monitor: OverloadMonitor;
  readonly usual: SharedBudget;
  readonly large: SharedBudget;
  /** Bodies that are being read. */
  readonly bodies = new Set<MonitoredBody>();

  constructor(monitor: OverloadMonitor, { usualBytes, largeBytes }: MemoryLimits) {
    this.monitor = monitor;
    this.usual = new SharedBudget(usualBytes);
    this.large = new SharedBudget(largeBytes);
  }

  get state(): LoadState {
    return this.monitor.state;
  }

  get memory(): { readonly usual: MemoryUse; readonly large: MemoryUse } {
    return { usual: useOf(this.usual), large: useOf(this.large) };
  }

  /**
   * Admits a request before its body is read.
   * @param isExempt whether the request is admitted without free memory; called only then
   * @returns null when it is refused
   */
  admit(network: string, isExempt: () => boolean): RequestLoad | null {
    const outcome = this.usual.reserve(network, REQUEST_BYTES);
    if (outcome === 'granted') {
      this.monitor.recordServed();
    } else if (isExempt()) {
      this.usual.reserveUnlimited(network, REQUEST_BYTES);
    } else {
      this.#recordRefusal(outcome);
      return null;
    }
    return new RequestLoad(this, network);
  }

  /** Reserves memory; a refusal is recorded. */
  reserve(budget: SharedBudget, network: string, bytes: number): boolean {
    const outcome = budget.reserve(network, bytes);
    if (outcome !== 'granted') this.#recordRefusal(outcome);
    return outcome === 'granted';
  }

  /** To be called once a second. */
  sweep(): void {
    for (const body of this.bodies) body.check();
    this.monitor.sweep(this.usual.isNearlyExhausted || this.large.isNearlyExhausted);
  }

  #recordRefusal(outcome: Exclude<Reservation, 'granted'>): void {
    this.monitor.recordLimited(outcome === 'exhausted' ? 'memory' : 'network_memory');
  }
}

/** The memory that one request has reserved: a fixed part, and its body as far as it has arrived. */
export class RequestLoad {
  readonly control: LoadControl;
  readonly #network: string;
  #budget: SharedBudget;
  #bytes = REQUEST_BYTES;
  #isReleased = false;
  /** Whether its handler runs, which may outlive the client. */
  isWorking = false;

  constructor(control: LoadControl, network: string) {
    this.control = control;
    this.#network = network;
    this.#budget = control.usual;
  }

  /** The length of the body, inflated. */
  get bodyBytes(): number {
    return this.#bytes - REQUEST_BYTES;
  }

  /**
   * Reserves memory for a body of this length instead of what was reserved for it before.
   * @returns false without free memory; the earlier reservation remains
   */
  resize(bodyBytes: number): boolean {
    if (this.#isReleased) return true;
    const { control } = this;
    const budget = bodyBytes > DEFAULT_BODY_LIMIT_BYTES ? control.large : control.usual;
    const bytes = REQUEST_BYTES + bodyBytes;
    const kept = budget === this.#budget ? Math.min(bytes, this.#bytes) : 0;
    if (bytes > kept && !control.reserve(budget, this.#network, bytes - kept)) return false;
    if (this.#bytes > kept) this.#budget.release(this.#network, this.#bytes - kept);
    this.#budget = budget;
    this.#bytes = bytes;
    return true;
  }

  /** Releases everything; a client may disconnect before its handler runs, and the handler may end after that. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.#budget.release(this.#network, this.#bytes);
  }
}

function useOf({ used, max }: SharedBudget): MemoryUse {
  return { usedBytes: used, maxBytes: max };
}
