import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import type { Clock } from '#server/clock.ts';
import { networkOf } from '#server/lib/client-network.ts';

const WINDOW_MS = 5 * 60_000;
const FAILURES_PER_WINDOW = 10;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 30 * 60_000;

/** After this long without a failure, an address starts afresh. */
const FORGET_AFTER_MS = 60 * 60_000;

/** Bounds memory; the addresses whose failures are oldest are forgotten first. */
const MAX_ADDRESSES = 50_000;

/** Bounds memory; the keys that were not used the longest are forgotten first. */
const MAX_KNOWN_KEYS = 50_000;

/** The limit in the form of the structured field `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11). */
export const GUESS_POLICY = `"guesses";q=${FAILURES_PER_WINDOW};w=${WINDOW_MS / 1000}`;

/** What is known of one address. */
interface Tally {
  windowStartedAt: number;
  failures: number;
  pauses: number;
  pausedUntil: number;
}

/**
 * Limits guessing of license keys: ten failed look-ups in five minutes pause an address for 30 seconds, and each further
 * pause is twice as long, up to 30 minutes. Only failures are counted. While an address is paused, its unknown keys are
 * refused, and so are foreign keys that it has not used before, right or wrong: otherwise the refusal itself would tell
 * which guess is right. Keys of the service's own form cannot be guessed and are served at all times, and so are foreign
 * keys in use, so that customers behind one address go on working.
 */
export class GuessLimiter {
  readonly #clock: Clock;
  readonly #addresses = createBoundedCache<Tally>(MAX_ADDRESSES);
  /** Foreign keys that were found, by network and hash. */
  readonly #knownKeys = createBoundedCache<true>(MAX_KNOWN_KEYS);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Notes a failed look-up. Gives the seconds for which the address is to be refused, or 0 while it may have its answer.
   * @param address the client's IP address; IPv6 addresses count by their /64
   */
  recordFailure(address: string): number {
    const now = this.#clock.now().getTime();
    const tally = this.#find(networkOf(address), now);
    if (tally.pausedUntil > now) return secondsUntil(tally.pausedUntil, now);
    if (now - tally.windowStartedAt >= WINDOW_MS) {
      tally.windowStartedAt = now;
      tally.failures = 0;
    }
    tally.failures++;
    if (tally.failures <= FAILURES_PER_WINDOW) return 0;
    tally.pausedUntil = now + Math.min(FIRST_PAUSE_MS * 2 ** tally.pauses, LONGEST_PAUSE_MS);
    tally.pauses++;
    return secondsUntil(tally.pausedUntil, now);
  }

  /**
   * Decides before a foreign key is looked up. Returns the seconds for which to refuse it, or 0.
   * @param address the client's IP address
   * @param keyHash what the key is found by
   */
  admit(address: string, keyHash: string): number {
    const network = networkOf(address);
    const now = this.#clock.now().getTime();
    const pausedUntil = this.#addresses.get(network)?.pausedUntil ?? 0;
    if (pausedUntil <= now || this.#knownKeys.has(nameOf(network, keyHash))) return 0;
    return secondsUntil(pausedUntil, now);
  }

  /**
   * Records that a foreign key was found. Returns 0, or the seconds for which to refuse it all the same, because the address
   * was paused since it was admitted: otherwise guesses sent at once would all be answered.
   */
  recordSuccess(address: string, keyHash: string): number {
    const refusedForSeconds = this.admit(address, keyHash);
    if (refusedForSeconds === 0) this.#knownKeys.set(nameOf(networkOf(address), keyHash), true);
    return refusedForSeconds;
  }

  /** Whether a foreign key was found for this address before. */
  isKnown(address: string, keyHash: string): boolean {
    return this.#knownKeys.has(nameOf(networkOf(address), keyHash));
  }

  #find(network: string, now: number): Tally {
    const known = this.#addresses.get(network);
    if (known && now - Math.max(known.windowStartedAt, known.pausedUntil) < FORGET_AFTER_MS) {
      return known;
    }
    const fresh = { windowStartedAt: now, failures: 0, pauses: 0, pausedUntil: 0 };
    this.#addresses.set(network, fresh);
    return fresh;
  }
}

function nameOf(network: string, keyHash: string): string {
  return `${network} ${keyHash}`;
}

function secondsUntil(moment: number, now: number): number {
  return Math.ceil((moment - now) / 1000);
}
