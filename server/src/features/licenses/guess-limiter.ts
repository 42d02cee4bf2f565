import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import type { Clock } from '#server/clock.ts';
import { networkOf } from '#server/lib/client-network.ts';

const WINDOW_MS = 5 * 60_000;
const FAILURES_PER_WINDOW = 10;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 30 * 60_000;

/** After this long without a failure, an address starts again from zero. */
const RESET_AFTER_MS = 60 * 60_000;

/** Bounds memory; the addresses whose failures are oldest are dropped first. */
const MAX_ADDRESSES = 50_000;

/** Bounds memory; the least recently used are dropped first. */
const MAX_KNOWN_KEYS = 50_000;

/** The limit in the form of the structured field `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11). */
export const GUESS_POLICY = `"guesses";q=${FAILURES_PER_WINDOW};w=${WINDOW_MS / 1000}`;

/** The failures of one address. */
interface FailureCount {
  windowStartedAt: number;
  failures: number;
  pauses: number;
  pausedUntil: number;
}

/**
 * Limits guessing of license keys: ten failed look-ups in five minutes pause an address for 30 seconds, and each further
 * pause is twice as long, up to 30 minutes. Only failures are counted. While an address is paused, its unknown keys are
 * refused, and so are guessable keys that it has not used before, right or wrong: otherwise the refusal itself would show
 * which guess is right. Generated keys cannot be guessed and are always served, and so are guessable keys in use, so that
 * customers behind the same address are not affected.
 */
export class GuessLimiter {
  readonly #clock: Clock;
  readonly #addresses = createBoundedCache<FailureCount>(MAX_ADDRESSES);
  /** Guessable keys that were found, by network and hash. */
  readonly #knownKeys = createBoundedCache<true>(MAX_KNOWN_KEYS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Records a failed look-up; returns the seconds for which the address is paused, or 0.
   * @param address the client's IP address; IPv6 addresses count by their /64
   */
  recordFailure(address: string): number {
    const now = this.#clock.now().getTime();
    const count = this.#find(networkOf(address), now);
    if (count.pausedUntil > now) return secondsUntil(count.pausedUntil, now);
    if (now - count.windowStartedAt >= WINDOW_MS) {
      count.windowStartedAt = now;
      count.failures = 0;
    }
    count.failures++;
    if (count.failures <= FAILURES_PER_WINDOW) return 0;
    count.pausedUntil = now + Math.min(FIRST_PAUSE_MS * 2 ** count.pauses, LONGEST_PAUSE_MS);
    count.pauses++;
    return secondsUntil(count.pausedUntil, now);
  }

  /**
   * Admits a guessable key before it is looked up; returns the seconds for which it is refused, or 0.
   * @param address the client's IP address
   * @param keyHash the hash by which the key is found
   */
  admit(address: string, keyHash: string): number {
    const network = networkOf(address);
    const now = this.#clock.now().getTime();
    const pausedUntil = this.#addresses.get(network)?.pausedUntil ?? 0;
    if (pausedUntil <= now || this.#knownKeys.has(knownKeyOf(network, keyHash))) return 0;
    return secondsUntil(pausedUntil, now);
  }

  /**
   * Records that a guessable key was found. Returns 0, or the seconds for which it is refused because the address was
   * paused after it was admitted: otherwise concurrent guesses would all be answered.
   */
  recordSuccess(address: string, keyHash: string): number {
    const refusedForSeconds = this.admit(address, keyHash);
    if (refusedForSeconds === 0) this.#knownKeys.set(knownKeyOf(networkOf(address), keyHash), true);
    return refusedForSeconds;
  }

  /** Returns whether a guessable key was found for this address before. */
  isKnown(address: string, keyHash: string): boolean {
    return this.#knownKeys.has(knownKeyOf(networkOf(address), keyHash));
  }

  #find(network: string, now: number): FailureCount {
    const known = this.#addresses.get(network);
    if (known && now - Math.max(known.windowStartedAt, known.pausedUntil) < RESET_AFTER_MS) {
      return known;
    }
    const fresh = { windowStartedAt: now, failures: 0, pauses: 0, pausedUntil: 0 };
    this.#addresses.set(network, fresh);
    return fresh;
  }
}

function knownKeyOf(network: string, keyHash: string): string {
  return `${network} ${keyHash}`;
}

function secondsUntil(end: number, now: number): number {
  return Math.ceil((end - now) / 1000);
}
