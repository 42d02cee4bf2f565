import { createBoundedCache } from './bounded-cache.ts';

/** A burst of `quota` requests, and as many more, evenly spread, in each window. */
export interface RatePolicy {
  /** Shows in the header fields; a word of letters and hyphens. */
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

/** The state of a client under a policy. */
export interface RateStanding {
  readonly policy: RatePolicy;
  /** The number of requests that are currently allowed. */
  readonly remaining: number;
  /** Seconds until the whole quota is available. */
  readonly resetSeconds: number;
}

/** Whether a request may pass. */
export interface RateVerdict {
  readonly standings: readonly RateStanding[];
  /** 0 when it is allowed. */
  readonly retryAfterSeconds: number;
}

/** Limits memory; the least recently used clients are evicted. */
const MAX_CLIENTS = 50_000;

/**
 * Limits the request rate of each client by the generic cell rate algorithm (ITU-T I.371). For each policy it keeps the
 * theoretical arrival time: when all requests so far would have arrived if evenly spread. A refused request does not
 * count.
 */
export class RateLimiter {
  readonly #policies: readonly RatePolicy[];
  /** By client: the theoretical arrival time of each policy, in ms. */
  readonly #arrivals = createBoundedCache<number[]>(MAX_CLIENTS);

  /** @param policies all of them must allow a request */
  constructor(...policies: readonly RatePolicy[]) {
    this.#policies = policies;
  }

  /** Counts a request, when it may pass. @param client what is counted by, such as a network @param now in ms */
  take(client: string, now: number): RateVerdict {
    const arrivals = this.#find(client);
    const next = this.#policies.map(
      (policy, index) => readArrival(arrivals[index], policy, now) + intervalOf(policy),
    );
    const waitMs = Math.max(
      ...this.#policies.map((policy, index) => (next[index] ?? now) - now - windowOf(policy)),
    );
    // Fractions of a millisecond result from rounding, not from the client.
    const allowed = waitMs < 1;
    if (allowed) next.forEach((arrival, index) => (arrivals[index] = arrival));
    return {
      standings: this.#policies.map((policy, index) =>
        standingOf(policy, Math.max(0, (arrivals[index] ?? now) - now)),
      ),
      retryAfterSeconds: allowed ? 0 : Math.ceil(waitMs / 1000),
    };
  }

  /** Stops counting a request that was allowed. @param now in ms */
  refund(client: string, now: number): void {
    const arrivals = this.#arrivals.get(client);
    if (arrivals === undefined) return;
    this.#policies.forEach((policy, index) => {
      arrivals[index] = readArrival(arrivals[index], policy, now) - intervalOf(policy);
    });
  }

  #find(client: string): number[] {
    const known = this.#arrivals.get(client);
    if (known !== undefined) return known;
    const fresh: number[] = [];
    this.#arrivals.set(client, fresh);
    return fresh;
  }
}

/** An arrival time further ahead than requests can reach was written before the clock was set back. */
function readArrival(arrival: number | undefined, policy: RatePolicy, now: number): number {
  if (arrival === undefined || arrival > now + windowOf(policy) + 1) return now;
  return Math.max(arrival, now);
}

function standingOf(policy: RatePolicy, aheadMs: number): RateStanding {
  const left = (windowOf(policy) - aheadMs) / intervalOf(policy);
  return {
    policy,
    remaining: Math.max(0, Math.floor(left + 1e-6)),
    resetSeconds: Math.ceil(aheadMs / 1000),
  };
}

function windowOf({ windowSeconds }: RatePolicy): number {
  return windowSeconds * 1000;
}

function intervalOf(policy: RatePolicy): number {
  return windowOf(policy) / policy.quota;
}
