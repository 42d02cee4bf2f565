import type { Clock } from '#server/clock.ts';
import { rateLimited } from '#server/errors.ts';
import type { Counters } from '#server/lib/counters.ts';
import { RefusalSampler } from '#server/lib/refusal-sampler.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

const MINUTES = 60;
const DAY = 86_400;

/** A try to sign in to an account, which may not exist. */
export interface SignInTry {
  readonly account: string;
  readonly network: string;
  /** Whether the operator signed in from the network before. */
  readonly isKnownNetwork: boolean;
}

/**
 * Limits guessing of passwords and codes by network and by account, whether or not the account exists. Only failures count.
 * An account is never locked: further tries come back one by one, and a network from which its operator signed in before is
 * limited only by itself, so that a guesser elsewhere cannot lock the operator out there.
 */
export class SignInLimiter {
  /** Decides which refused sign-ins are logged. */
  readonly refusals = new RefusalSampler();
  readonly #clock: Clock;
  readonly #networks: RateLimiter;
  readonly #accounts: RateLimiter;

  constructor(clock: Clock, counters: Counters) {
    this.#clock = clock;
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
  async takeNetwork(network: string): Promise<void> {
    const verdict = await this.#networks.take(network, this.#now());
    if (verdict.retryAfterSeconds > 0) throw rateLimited(verdict.retryAfterSeconds);
  }

  /** Counts a try of {@link takeNetwork} that names an account. @throws rateLimited (429) */
  async takeAccount({ account, isKnownNetwork }: SignInTry): Promise<void> {
    if (isKnownNetwork) return;
    const verdict = await this.#accounts.take(account.toLowerCase(), this.#now());
    if (verdict.retryAfterSeconds > 0) throw rateLimited(verdict.retryAfterSeconds);
  }

  /** Stops counting a try of {@link takeAccount} whose password was right. */
  async refund({ account, network, isKnownNetwork }: SignInTry): Promise<void> {
    await this.refundNetwork(network);
    if (isKnownNetwork) return;
    await this.#accounts.refund(account.toLowerCase(), this.#now());
  }

  /** Stops counting a try of {@link takeNetwork} that succeeded. */
  refundNetwork(network: string): Promise<void> {
    return this.#networks.refund(network, this.#now());
  }

  #now(): number {
    return this.#clock.now().getTime();
  }
}
