import type { Clock } from '#server/clock.ts';
import { rateLimited } from '#server/errors.ts';
import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import type { Counters } from '#server/lib/counters.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

const MINUTES = 60;
const DAY = 86_400;

/** Bounds memory; the least recently used are dropped first. */
const MAX_KNOWN = 10_000;

/** Networks from which an account signed in. */
const KNOWN_NETWORKS = 'known-networks';

/** How long a process that shares these networks knows one without a sign-in. */
const KNOWN_FOR_MS = 30 * DAY * 1_000;

/**
 * Limits guessing of passwords and codes by network and by account, whether or not the account exists. Only failures count.
 * An account is never locked: further tries come back one by one, and a network from which its operator signed in before is
 * limited only by itself, so that a guesser elsewhere cannot lock the operator out.
 */
export class SignInLimiter {
  readonly #clock: Clock;
  readonly #counters: Counters;
  readonly #networks: RateLimiter;
  readonly #accounts: RateLimiter;
  /** A copy of the networks from which an account signed in. */
  readonly #known = createBoundedCache<true>(MAX_KNOWN);

  constructor(clock: Clock, counters: Counters) {
    this.#clock = clock;
    this.#counters = counters;
    this.#networks = new RateLimiter(
      counters,
      { name: 'sign-in', quota: 20, windowSeconds: 5 * MINUTES },
      { name: 'sign-in-day', quota: 200, windowSeconds: DAY },
    );
    this.#accounts = new RateLimiter(
      counters,
      { name: 'account', quota: 10, windowSeconds: 5 * MINUTES },
      { name: 'account-day', quota: 100, windowSeconds: DAY },
    );
  }

  /** Counts a try before its outcome is known, so that concurrent tries are limited too. @throws rateLimited (429) */
  async take(account: string, network: string): Promise<void> {
    await this.takeNetwork(network);
    if (await this.#isKnown(account, network)) return;
    const ofAccount = await this.#accounts.take(account.toLowerCase(), this.#now());
    if (ofAccount.retryAfterSeconds > 0) throw rateLimited(ofAccount.retryAfterSeconds);
  }

  /** Counts a try that names no account. @throws rateLimited (429) */
  async takeNetwork(network: string): Promise<void> {
    const verdict = await this.#networks.take(network, this.#now());
    if (verdict.retryAfterSeconds > 0) throw rateLimited(verdict.retryAfterSeconds);
  }

  /** Stops counting a try whose password was right. */
  async refund(account: string, network: string): Promise<void> {
    await this.refundNetwork(network);
    if (await this.#isKnown(account, network)) return;
    await this.#accounts.refund(account.toLowerCase(), this.#now());
  }

  /** Stops counting a try of {@link takeNetwork} that succeeded. */
  refundNetwork(network: string): Promise<void> {
    return this.#networks.refund(network, this.#now());
  }

  /** Records a sign-in, and stops counting it. */
  async succeed(account: string, network: string): Promise<void> {
    await this.refund(account, network);
    const key = keyOf(account, network);
    this.#known.set(key, true);
    const change = { state: [1], keepMs: KNOWN_FOR_MS, result: null };
    await this.#counters.update(KNOWN_NETWORKS, key, () => change);
  }

  async #isKnown(account: string, network: string): Promise<boolean> {
    const key = keyOf(account, network);
    if (this.#known.has(key)) return true;
    if ((await this.#counters.read(KNOWN_NETWORKS, key)) === null) return false;
    this.#known.set(key, true);
    return true;
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}

function keyOf(account: string, network: string): string {
  return `${network} ${account.toLowerCase()}`;
}
