import type { Counters, CounterState } from './counters.ts';

/** By how much the clocks of processes that share counters may differ, with the time that a request waits. */
const CLOCK_TOLERANCE_MS = 10_000;

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

/**
 * Limits the request rate of each client by the generic cell rate algorithm (ITU-T I.371). For each policy it keeps the
 * theoretical arrival time: when all requests so far would have arrived if evenly spread. A refused request does not
 * count.
 */
export class RateLimiter {
  readonly #counters: Counters;
  readonly #policies: readonly [RatePolicy, ...RatePolicy[]];

  /** @param policies all of them must allow a request; the first one names the counters */
  constructor(counters: Counters, ...policies: readonly [RatePolicy, ...RatePolicy[]]) {
    this.#counters = counters;
    this.#policies = policies;
  }

  /** Counts a request, when it may pass. @param client what is counted by, such as a network @param now in ms */
  take(client: string, now: number): Promise<RateVerdict> {
    return this.#update(client, now, (arrivals) => {
      const present = this.#policies.map((policy, index) =>
        readArrival(arrivals[index], policy, now),
      );
      const next = this.#policies.map(
        (policy, index) => (present[index] ?? now) + intervalOf(policy),
      );
      const waitMs = Math.max(
        ...this.#policies.map((policy, index) => (next[index] ?? now) - now - windowOf(policy)),
      );
      // Fractions of a millisecond result from rounding, not from the client.
      const allowed = waitMs < 1;
      const state = allowed ? next : present;
      return { state, result: this.#judge(state, now, allowed ? 0 : Math.ceil(waitMs / 1000)) };
    });
  }

  /** Stops counting a request that was allowed. @param now in ms */
  async refund(client: string, now: number): Promise<void> {
    await this.#update(client, now, (arrivals) => ({
      state: arrivals.map((arrival, index) => {
        const policy = this.#policies[index];
        return policy === undefined
          ? arrival
          : readArrival(arrival, policy, now) - intervalOf(policy);
      }),
      result: null,
    }));
  }

  #update<Result>(
    client: string,
    now: number,
    change: (arrivals: CounterState) => { state: CounterState; result: Result },
  ): Promise<Result> {
    const [{ name }] = this.#policies;
    return this.#counters.update(name, client, (arrivals) => {
      const changed = change(arrivals ?? []);
      return { ...changed, keepMs: Math.max(1, ...changed.state.map((arrival) => arrival - now)) };
    });
  }

  #judge(arrivals: CounterState, now: number, retryAfterSeconds: number): RateVerdict {
    const standings = this.#policies.map((policy, index) =>
      standingOf(policy, Math.max(0, (arrivals[index] ?? now) - now)),
    );
    return { standings, retryAfterSeconds };
  }
}

/**
 * An arrival time further ahead than requests can reach was written before the clock was set back, and counts as a quota
 * that is used up. A few seconds are no such change: other processes have other clocks, and `now` is read before a request
 * waits for the counters.
 */
function readArrival(arrival: number | undefined, policy: RatePolicy, now: number): number {
  if (arrival === undefined) return now;
  const latest = now + windowOf(policy);
  return arrival > latest + CLOCK_TOLERANCE_MS ? latest : Math.max(arrival, now);
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
