import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';

import { listSubscribedTypes } from './queries/endpoints.ts';
import { EVENT_TYPES, type EventType } from './rules/payload.ts';

/** Other processes may change endpoints. */
const MAX_AGE_MS = 5_000;

/**
 * A cache of the event types that any endpoint subscribes to, so that activations and trials without subscribers cost no
 * query. Events for an endpoint that another process registers are recorded after at most five seconds.
 */
export class EventSubscriptions {
  readonly #clock: Clock;
  #types: ReadonlySet<EventType> | null = null;
  #readAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether any endpoint subscribes to the type.
   * @param db the caller's connection: a caller in a transaction must not wait for another one
   */
  async has(db: Queryable, type: EventType): Promise<boolean> {
    const nowMs = this.#clock.now().getTime();
    if (this.#types !== null && Math.abs(nowMs - this.#readAtMs) < MAX_AGE_MS) {
      return this.#types.has(type);
    }
    // Set before the query, so that concurrent calls use the cached types.
    this.#readAtMs = nowMs;
    this.#types = readTypes(await listSubscribedTypes(db));
    return this.#types.has(type);
  }

  /** Discards the cache after this process has changed endpoints. */
  invalidate(): void {
    this.#types = null;
  }
}

function readTypes(subscribed: readonly (readonly string[])[]): ReadonlySet<EventType> {
  return new Set(
    EVENT_TYPES.filter((type) =>
      subscribed.some((list) => list.length === 0 || list.includes(type)),
    ),
  );
}
