import type { Clock } from '#server/clock.ts';
import { rateLimited } from '#server/errors.ts';
import type { Counters } from '#server/lib/counters.ts';
import { RateLimiter, type RatePolicy } from '#server/lib/rate-limiter.ts';

const MINUTES = 60;
const HOURS = 3_600;

const POLICIES = {
  /** Requests of codes by network. */
  codes: { name: 'buyer-codes', quota: 10, windowSeconds: 10 * MINUTES },
  /**
   * Codes for one address by the network that asks, or by a browser that knows the address; CODE_LIMITS limits those of all
   * networks together. One network alone cannot use them up.
   */
  codesOfAddress: { name: 'buyer-address-codes', quota: 5, windowSeconds: 1 * HOURS },
  /** Codes entered by network; MAX_TRIES limits them by code. */
  tries: { name: 'buyer-tries', quota: 20, windowSeconds: 5 * MINUTES },
  /** E-mails with keys by license or address. */
  keys: { name: 'buyer-keys', quota: 3, windowSeconds: 1 * HOURS },
} satisfies Readonly<Record<string, RatePolicy>>;

/** Limits what buyers do on their page, counted together with other processes. */
export class BuyerLimits {
  readonly #clock: Clock;
  readonly #limiters: Readonly<Record<keyof typeof POLICIES, RateLimiter>>;

  constructor(clock: Clock, counters: Counters) {
    this.#clock = clock;
    this.#limiters = {
      codes: new RateLimiter(counters, POLICIES.codes),
      codesOfAddress: new RateLimiter(counters, POLICIES.codesOfAddress),
      tries: new RateLimiter(counters, POLICIES.tries),
      keys: new RateLimiter(counters, POLICIES.keys),
    };
  }

  /** Counts an action. @param client a network, or who does it @throws rateLimited (429) */
  async take(action: keyof typeof POLICIES, client: string): Promise<void> {
    const retryAfterSeconds = await this.tryTake(action, client);
    if (retryAfterSeconds > 0) throw rateLimited(retryAfterSeconds);
  }

  /** Counts an action, unless there were too many; returns the seconds to wait, or 0. */
  async tryTake(action: keyof typeof POLICIES, client: string): Promise<number> {
    const verdict = await this.#limiters[action].take(client, this.#clock.now().getTime());
    return verdict.retryAfterSeconds;
  }

  /** Stops counting an action that was not executed. */
  async refund(action: keyof typeof POLICIES, client: string): Promise<void> {
    await this.#limiters[action].refund(client, this.#clock.now().getTime());
  }
}
