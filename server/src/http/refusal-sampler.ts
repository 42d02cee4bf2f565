/** How many refused requests are logged in a minute. */
const MAX_OF_NETWORK = 10;
const MAX_OF_STATUS = 60;

const WINDOW_MS = 60_000;

/**
 * Decides which refused requests are logged: in each minute the first ten of a client network, and the first sixty of a status of
 * all networks together. Any stranger can send as many as the network allows, and must neither fill the disk nor, with
 * one status, hide the lines of another.
 */
export class RefusalSampler {
  readonly #now: () => number;
  /** Within the window; at most as many networks as lines. */
  readonly #ofNetwork = new Map<string, number>();
  readonly #ofStatus = new Map<number, number>();
  #windowEndMs = 0;
  #suppressed = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns how many refusals were suppressed since the last one that is logged; null: do not log this one. */
  take(network: string, status: number): { readonly suppressed: number } | null {
    this.#renew();
    const ofNetwork = this.#ofNetwork.get(network) ?? 0;
    const ofStatus = this.#ofStatus.get(status) ?? 0;
    if (ofNetwork >= MAX_OF_NETWORK || ofStatus >= MAX_OF_STATUS) {
      this.#suppressed++;
      return null;
    }
    this.#ofNetwork.set(network, ofNetwork + 1);
    this.#ofStatus.set(status, ofStatus + 1);
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return { suppressed };
  }

  #renew(): void {
    const now = this.#now();
    if (now < this.#windowEndMs) return;
    this.#windowEndMs = now + WINDOW_MS;
    this.#ofNetwork.clear();
    this.#ofStatus.clear();
  }
}
