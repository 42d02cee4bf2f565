import type { Clock } from '#server/clock.ts';
import { rateLimited } from '#server/errors.ts';
import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import { RateLimiter } from '#server/lib/rate-limiter.ts';

const MINUTES = 60;
const DAY = 86_400;

/** Bounds memory; the least recently used are dropped first. */
const MAX_KNOWN = 10_000;

/**
 * Limits guessing of passwords and codes by network and by account, whether or not the account exists. Only failures count.
 * An account is never locked: further tries come back one by one, and a network from which its operator signed in before is
 * limited only by itself, so that a guesser elsewhere cannot lock the operator out.
 */
export class SignInLimiter {
  readonly #clock: Clock;
  readonly #networks = new RateLimiter(
    { name: 'sign-in', quota: 20, windowSeconds: 5 * MINUTES },
    { name: 'sign-in-day', quota: 200, windowSeconds: DAY },
  );
  readonly #accounts = new RateLimiter(
    { name: 'account', quota: 10, windowSeconds: 5 * MINUTES },
    { name: 'account-day', quota: 100, windowSeconds: DAY },
  );
  /** Networks from which an account signed in. */
  readonly #known = createBoundedCache<true>(MAX_KNOWN);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts a try before its outcome is known, so that concurrent tries are limited too. @throws rateLimited (429) */
  take(account: string, network: string): void {
    this.takeNetwork(network);
    if (this.#known.has(keyOf(account, network))) return;
    const now = this.#clock.now().getTime();
    const ofAccount = this.#accounts.take(account.toLowerCase(), now);
    if (ofAccount.retryAfterSeconds > 0) throw rateLimited(ofAccount.retryAfterSeconds);
  }

  /** Counts a try that names no account. @throws rateLimited (429) */
  takeNetwork(network: string): void {
    const verdict = this.#networks.take(network, this.#clock.now().getTime());
    if (verdict.retryAfterSeconds > 0) throw rateLimited(verdict.retryAfterSeconds);
  }

  /** Stops counting a try whose password was right. */
  refund(account: string, network: string): void {
    this.refundNetwork(network);
    if (this.#known.has(keyOf(account, network))) return;
    this.#accounts.refund(account.toLowerCase(), this.#clock.now().getTime());
  }

  /** Stops counting a try of {@link takeNetwork} that succeeded. */
  refundNetwork(network: string): void {
    this.#networks.refund(network, this.#clock.now().getTime());
  }

  /** Records a sign-in, and stops counting it. */
  succeed(account: string, network: string): void {
    this.refund(account, network);
    this.#known.set(keyOf(account, network), true);
  }
}

function keyOf(account: string, network: string): string {
  return `${network} ${account.toLowerCase()}`;
}
