import { hash } from 'node:crypto';

import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import type { Clock } from '#server/clock.ts';
import { networkOf } from '#server/lib/client-network.ts';
import type { Counters } from '#server/lib/counters.ts';
import { RateLimiter, type RatePolicy } from '#server/lib/rate-limiter.ts';

/** Checkouts without a license that a network may look up: a burst of the quota, and as many more in each window. */
export const CHECK_POLICY: RatePolicy = { name: 'checks', quota: 120, windowSeconds: 3_600 };

/** Bounds memory; the least recently used are dropped first. */
const MAX_CHECKOUTS = 100_000;

/** Checkouts that a network looked up, by a hash of both. */
const CHECKOUTS = 'checkouts';

/** Longer than a buyer waits for a license. */
const KEPT_FOR_MS = 24 * 60 * 60_000;

/** `missed` counts against the quota of the network, `found` does not. */
type Outcome = 'missed' | 'found';
const CODES = { missed: 0, found: 1 } as const satisfies Record<Outcome, number>;

/**
 * Limits how many transaction ids a client network can try. It counts each id once, however often the network polls it,
 * and stops counting it when its license is found. So a front end may poll one checkout as long as needed, and buyers
 * behind one address do not count once they have their licenses. Over the quota, an id that is new to the network is
 * refused before it is looked up, so that the answer does not depend on it.
 */
export class CheckLimiter {
  readonly #clock: Clock;
  readonly #counters: Counters;
  readonly #limiter: RateLimiter;
  /** A copy, so that polling costs nothing. */
  readonly #outcomes = createBoundedCache<Outcome>(MAX_CHECKOUTS);

  constructor(clock: Clock, counters: Counters) {
    this.#clock = clock;
    this.#counters = counters;
    this.#limiter = new RateLimiter(counters, CHECK_POLICY);
  }

  /**
   * Admits a look-up; returns the seconds for which it is refused, or 0.
   * @param address the client's IP address; IPv6 addresses count by their /64
   */
  async admit(address: string, transactionId: string): Promise<number> {
    const network = networkOf(address);
    const key = outcomeKey(network, transactionId);
    if (this.#outcomes.get(key) !== undefined) return 0;
    if ((await this.#counters.read(CHECKOUTS, key)) === null) {
      const { retryAfterSeconds } = await this.#limiter.take(network, this.#now());
      if (retryAfterSeconds > 0) return retryAfterSeconds;
      // A concurrent request for the same id was counted.
      if (!(await this.#recordMissed(key))) await this.#limiter.refund(network, this.#now());
    }
    this.#outcomes.set(key, 'missed');
    return 0;
  }

  /** Stops counting an id that was admitted and has a license. */
  async recordFound(address: string, transactionId: string): Promise<void> {
    const network = networkOf(address);
    const key = outcomeKey(network, transactionId);
    if (this.#outcomes.get(key) !== 'missed') return;
    this.#outcomes.set(key, 'found');
    const wasMissed = await this.#counters.update(CHECKOUTS, key, (state) => ({
      state: [CODES.found],
      keepMs: KEPT_FOR_MS,
      result: state?.[0] === CODES.missed,
    }));
    if (wasMissed) await this.#limiter.refund(network, this.#now());
  }

  /** Returns whether the id was not counted before. */
  #recordMissed(key: string): Promise<boolean> {
    return this.#counters.update(CHECKOUTS, key, (state) => ({
      state: state ?? [CODES.missed],
      keepMs: KEPT_FOR_MS,
      result: state === null,
    }));
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}

/** A hash is short for an id of any length. */
function outcomeKey(network: string, transactionId: string): string {
  return hash('sha256', `${network} ${transactionId}`, 'base64url');
}
