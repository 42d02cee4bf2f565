import { createBoundedCache } from '#server/lib/bounded-cache.ts';
import type { Clock } from '#server/clock.ts';
import { networkOf } from '#server/lib/client-network.ts';
import type { Counters, CounterState } from '#server/lib/counters.ts';

const WINDOW_MS = 5 * 60_000;
const FAILURES_PER_WINDOW = 10;
const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 30 * 60_000;

/** After this long without a failure, an address starts again from zero. */
const RESET_AFTER_MS = 60 * 60_000;

/** Bounds memory; the least recently used are dropped first. */
const MAX_KNOWN_KEYS = 50_000;

/** The limit in the form of the structured field `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11). */
export const GUESS_POLICY = `"guesses";q=${FAILURES_PER_WINDOW};w=${WINDOW_MS / 1000}`;

/** Counters of failures, by network. */
const FAILURES = 'guesses';

/** Guessable keys that were found, by network and hash. */
const KNOWN_KEYS = 'known-keys';

/** How long a process that shares these keys knows one that is not used. */
const KNOWN_FOR_MS = 30 * 24 * 60 * 60_000;

/** The failures of one address. */
interface FailureCount {
  readonly windowStartedAt: number;
  readonly failures: number;
  readonly pauses: number;
  readonly pausedUntil: number;
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
  readonly #counters: Counters;
  /** A copy, so that a guessable key in use costs nothing. */
  readonly #knownKeys = createBoundedCache<true>(MAX_KNOWN_KEYS);

  constructor(clock: Clock, counters: Counters) {
    this.#clock = clock;
    this.#counters = counters;
  }

  /**
   * Records a failed look-up; returns the seconds for which the address is paused, or 0.
   * @param address the client's IP address; IPv6 addresses count by their /64
   */
  recordFailure(address: string): Promise<number> {
    const now = this.#clock.now().getTime();
    return this.#counters.update(FAILURES, networkOf(address), (state) => {
      const count = countFailure(readCount(state, now), now);
      const { windowStartedAt, failures, pauses, pausedUntil } = count;
      return {
        state: [windowStartedAt, failures, pauses, pausedUntil],
        keepMs: Math.max(windowStartedAt, pausedUntil) + RESET_AFTER_MS - now,
        result: secondsUntil(pausedUntil, now),
      };
    });
  }

  /**
   * Admits a guessable key before it is looked up; returns the seconds for which it is refused, or 0.
   * @param address the client's IP address
   * @param keyHash the hash by which the key is found
   */
  async admit(address: string, keyHash: string): Promise<number> {
    if (this.isKnown(address, keyHash)) return 0;
    const network = networkOf(address);
    const now = this.#clock.now().getTime();
    const state = await this.#counters.read(FAILURES, network);
    const seconds = secondsUntil(readCount(state, now).pausedUntil, now);
    if (seconds === 0) return 0;
    const known = knownKeyOf(network, keyHash);
    // Another process may have found it.
    if ((await this.#counters.read(KNOWN_KEYS, known)) === null) return seconds;
    this.#knownKeys.set(known, true);
    return 0;
  }

  /**
   * Records that a guessable key was found. Returns 0, or the seconds for which it is refused because the address was
   * paused after it was admitted: otherwise concurrent guesses would all be answered.
   */
  async recordSuccess(address: string, keyHash: string): Promise<number> {
    const refusedForSeconds = await this.admit(address, keyHash);
    if (refusedForSeconds > 0 || this.isKnown(address, keyHash)) return refusedForSeconds;
    const known = knownKeyOf(networkOf(address), keyHash);
    this.#knownKeys.set(known, true);
    const change = { state: [1], keepMs: KNOWN_FOR_MS, result: 0 };
    return this.#counters.update(KNOWN_KEYS, known, () => change);
  }

  /** Returns whether this process found a guessable key for this address before. */
  isKnown(address: string, keyHash: string): boolean {
    return this.#knownKeys.has(knownKeyOf(networkOf(address), keyHash));
  }
}

/** Returns the count of an address, from zero after an hour without a failure. */
function readCount(state: CounterState | null, now: number): FailureCount {
  const [windowStartedAt = now, failures = 0, pauses = 0, pausedUntil = 0] = state ?? [];
  const isRecent = now - Math.max(windowStartedAt, pausedUntil) < RESET_AFTER_MS;
  return isRecent
    ? { windowStartedAt, failures, pauses, pausedUntil }
    : { windowStartedAt: now, failures: 0, pauses: 0, pausedUntil: 0 };
}

/** Adds a failure, which may begin a pause; one during a pause changes nothing. */
function countFailure(count: FailureCount, now: number): FailureCount {
  if (count.pausedUntil > now) return count;
  const isOver = now - count.windowStartedAt >= WINDOW_MS;
  const windowStartedAt = isOver ? now : count.windowStartedAt;
  const failures = isOver ? 1 : count.failures + 1;
  if (failures <= FAILURES_PER_WINDOW) return { ...count, windowStartedAt, failures };
  const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** count.pauses, LONGEST_PAUSE_MS);
  return { windowStartedAt, failures, pauses: count.pauses + 1, pausedUntil: now + pauseMs };
}

function knownKeyOf(network: string, keyHash: string): string {
  return `${network} ${keyHash}`;
}

function secondsUntil(end: number, now: number): number {
  return Math.max(0, Math.ceil((end - now) / 1000));
}
