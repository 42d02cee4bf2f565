/** How many refused requests are logged in a minute. */
const MAX_OF_SOURCE = 10;
const MAX_OF_KIND = 60;

const WINDOW_MS = 60_000;

/**
 * Decides which refusals are logged: in each minute the first ten of a source, such as a client network or the account that is
 * attacked, and the first sixty of a kind, such as a status, of all sources together. Any stranger can cause as many as the network
 * allows, and must neither fill the disk nor, with one kind, hide the lines of another.
 */
export class RefusalSampler {
  readonly #now: () => number;
  /** Within the window; at most as many sources as lines. */
  readonly #ofSource = new Map<string, number>();
  readonly #ofKind = new Map<string | number, number>();
  #windowEndMs = 0;
  #suppressed = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Returns how many refusals were suppressed since the last one that is logged; null: do not log this one. */
  take(source: string, kind: string | number): { readonly suppressed: number } | null {
    this.#renew();
    const ofSource = this.#ofSource.get(source) ?? 0;
    const ofKind = this.#ofKind.get(kind) ?? 0;
    if (ofSource >= MAX_OF_SOURCE || ofKind >= MAX_OF_KIND) {
      this.#suppressed++;
      return null;
    }
    this.#ofSource.set(source, ofSource + 1);
    this.#ofKind.set(kind, ofKind + 1);
    const suppressed = this.#suppressed;
    this.#suppressed = 0;
    return { suppressed };
  }

  #renew(): void {
    const now = this.#now();
    if (now < this.#windowEndMs) return;
    this.#windowEndMs = now + WINDOW_MS;
    this.#ofSource.clear();
    this.#ofKind.clear();
  }
}
