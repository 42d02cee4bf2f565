import { hash } from 'node:crypto';

import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import type { Clock } from '#server/clock.ts';
import { networkOf } from '#server/lib/client-network.ts';
import { RateLimiter, type RatePolicy } from '#server/lib/rate-limiter.ts';

/** Checkouts without a license that a network may look up: a burst of the quota, and as many more in each window. */
export const CHECK_POLICY: RatePolicy = { name: 'checks', quota: 120, windowSeconds: 3_600 };

/** Bounds memory; the least recently used are dropped first. */
const MAX_CHECKOUTS = 100_000;

/** `missed` counts against the quota of the network, `found` does not. */
type Outcome = 'missed' | 'found';

/**
 * Limits how many transaction ids a client network can try. It counts each id once, however often the network polls it,
 * and stops counting it when its license is found. So a front end may poll one checkout as long as needed, and buyers
 * behind one address do not count once they have their licenses. Over the quota, an id that is new to the network is
 * refused before it is looked up, so that the answer does not depend on it.
 */
export class CheckLimiter {
  readonly #clock: Clock;
  readonly #limiter = new RateLimiter(CHECK_POLICY);
  /** By a hash of network and transaction id. */
  readonly #outcomes = createBoundedCache<Outcome>(MAX_CHECKOUTS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Admits a look-up; returns the seconds for which it is refused, or 0.
   * @param address the client's IP address; IPv6 addresses count by their /64
   */
  admit(address: string, transactionId: string): number {
    const network = networkOf(address);
    const key = outcomeKey(network, transactionId);
    if (this.#outcomes.get(key) !== undefined) return 0;
    const { retryAfterSeconds } = this.#limiter.take(network, this.#clock.now().getTime());
    if (retryAfterSeconds === 0) this.#outcomes.set(key, 'missed');
    return retryAfterSeconds;
  }

  /** Stops counting an id that was admitted and has a license. */
  recordFound(address: string, transactionId: string): void {
    const network = networkOf(address);
    const key = outcomeKey(network, transactionId);
    if (this.#outcomes.get(key) !== 'missed') return;
    this.#outcomes.set(key, 'found');
    this.#limiter.refund(network, this.#clock.now().getTime());
  }
}

/** A hash is short for an id of any length. */
function outcomeKey(network: string, transactionId: string): string {
  return hash('sha256', `${network} ${transactionId}`, 'base64url');
}
