import type { Clock } from '#server/clock.ts';
import type { Queryable } from '#server/db/statement.ts';

import { listWantedTypes } from './queries/endpoints.ts';
import { EVENT_TYPES, type EventType } from './rules/payload.ts';

/** For how long what was read is taken to hold; another process may have changed the endpoints since. */
const MAX_AGE_MS = 5_000;

/**
 * Which events anybody wants, remembered for some seconds, so that an activation or a trial of which nobody is told pays
 * nothing for it. What an endpoint that another process registers wants is recorded from five seconds later at the
 * latest; which endpoints are told of an event is asked of the database each time.
 */
export class WantedEvents {
  readonly #clock: Clock;
  #types: ReadonlySet<EventType> | null = null;
  #readAtMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Whether somebody wants to be told of this type of event.
   * @param db asked when it is time; on the caller's own connection, since one in a transaction must not wait for another
   */
  async has(db: Queryable, type: EventType): Promise<boolean> {
    const nowMs = this.#clock.now().getTime();
    if (this.#types !== null && Math.abs(nowMs - this.#readAtMs) < MAX_AGE_MS) {
      return this.#types.has(type);
    }
    // Those who ask meanwhile go on with what is known.
    this.#readAtMs = nowMs;
    this.#types = readTypes(await listWantedTypes(db));
    return this.#types.has(type);
  }

  /** Reads anew at the next question: the endpoints were changed by this process. */
  forget(): void {
    this.#types = null;
  }
}

function readTypes(wanted: readonly (readonly string[])[]): ReadonlySet<EventType> {
  return new Set(
    EVENT_TYPES.filter((type) => wanted.some((list) => list.length === 0 || list.includes(type))),
  );
}
