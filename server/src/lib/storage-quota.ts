import { createBoundedCache } from './bounded-cache.ts';

const DAY_MS = 86_400_000;

/** Limits memory; the least recently used networks are evicted. */
const MAX_NETWORKS = 50_000;

/**
 * Limits how many bytes each client network may have stored without credentials in a day. The quota refills evenly, so
 * a network that used it up waits in proportion to the size of its last request. It is charged after the request, when
 * the number of new rows is known; concurrent requests may exceed it.
 */
export class StorageQuota {
  readonly #msPerByte: number;
  /** By network: the time when its whole quota is available again, in ms. */
  readonly #fullAgainAt = createBoundedCache<number>(MAX_NETWORKS);

  /** @param bytesPerDay at least 1 */
  constructor(bytesPerDay: number) {
    this.#msPerByte = DAY_MS / bytesPerDay;
  }

  /**
   * Returns the seconds for which a network may store nothing; 0 when it may store.
   * @param now in ms
   */
  readWaitSeconds(network: string, now: number): number {
    return Math.max(0, Math.ceil((this.#readDebtMs(network, now) - DAY_MS) / 1_000));
  }

  /**
   * Charges the stored bytes.
   * @param now in ms
   */
  charge(network: string, bytes: number, now: number): void {
    if (bytes <= 0) return;
    const debtMs = this.#readDebtMs(network, now) + bytes * this.#msPerByte;
    // One more day at most, so that a single large request cannot lock a network out for longer.
    this.#fullAgainAt.set(network, now + Math.min(debtMs, 2 * DAY_MS));
  }

  #readDebtMs(network: string, now: number): number {
    const debtMs = (this.#fullAgainAt.get(network) ?? now) - now;
    // A longer debt was written before the clock was set back.
    return debtMs > 2 * DAY_MS ? 0 : Math.max(0, debtMs);
  }
}
