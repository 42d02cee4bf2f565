import { createBoundedCache } from './bounded-cache.ts';
import type { Counters } from './counters.ts';

const DAY_MS = 86_400_000;

/** The quota of a day, and one day of waiting. */
const MAX_DEBT_MS = 2 * DAY_MS;

/** The counters that several processes share, by network. */
const STORED = 'storage';

/** Limits memory; the least recently used networks are evicted. */
const MAX_NETWORKS = 50_000;

/**
 * Limits how many bytes each client network may have stored without credentials in a day. The quota refills evenly, so
 * a network that used it up waits in proportion to the size of its last request. It is charged after the request, when
 * the number of new rows is known; concurrent requests may exceed it. Processes that share the quota learn what the others
 * charged with their own next charge, so that a request never waits for that.
 */
export class StorageQuota {
  readonly #msPerByte: number;
  /** By network: the time when its whole quota is available again, in ms. */
  readonly #fullAgainAt = createBoundedCache<number>(MAX_NETWORKS);

  readonly #shared: Pick<Counters, 'update'> | null;

  /**
   * @param bytesPerDay at least 1
   * @param shared counters of several processes; null: this process counts alone
   */
  constructor(bytesPerDay: number, shared: Pick<Counters, 'update'> | null = null) {
    this.#msPerByte = DAY_MS / bytesPerDay;
    this.#shared = shared;
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
    const costMs = bytes * this.#msPerByte;
    this.#fullAgainAt.set(network, addCost(this.#fullAgainAt.get(network), costMs, now));
    if (this.#shared !== null) void this.#chargeShared(this.#shared, network, costMs, now);
  }

  async #chargeShared(
    shared: Pick<Counters, 'update'>,
    network: string,
    costMs: number,
    now: number,
  ): Promise<void> {
    const fullAgainAt = await shared.update(STORED, network, (state) => {
      const next = addCost(state?.[0], costMs, now);
      return { state: [next], keepMs: next - now, result: next };
    });
    // Charges that are not yet shared count here already.
    const local = this.#fullAgainAt.get(network) ?? fullAgainAt;
    this.#fullAgainAt.set(network, Math.max(local, fullAgainAt));
  }

  /** A time that no charge can reach was written before the clock was set back; it is replaced, so that the debt decreases. */
  #readDebtMs(network: string, now: number): number {
    const fullAgainAt = this.#fullAgainAt.get(network);
    const latest = now + MAX_DEBT_MS;
    if (fullAgainAt !== undefined && fullAgainAt > latest) this.#fullAgainAt.set(network, latest);
    return debtOf(fullAgainAt, now);
  }
}

/** Returns when the quota is full again; one more day at most, so that a single large request cannot lock a network out for longer. */
function addCost(fullAgainAt: number | undefined, costMs: number, now: number): number {
  return now + Math.min(debtOf(fullAgainAt, now) + costMs, MAX_DEBT_MS);
}

/** A longer debt was written before the clock was set back, or by a process whose clock differs. */
function debtOf(fullAgainAt: number | undefined, now: number): number {
  return Math.min(Math.max(0, (fullAgainAt ?? now) - now), MAX_DEBT_MS);
}
