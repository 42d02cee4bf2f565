import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { retryConflicts } from '#server/db/transaction.ts';

import { addDrops, type DropRow } from './queries/events.ts';
import { dayOf } from './rules/days.ts';
import type { DropCounts, DropReason } from './rules/select-events.ts';

/** Counts events for the metrics. */
export type CountEvents = (outcome: 'accepted' | DropReason, count: number) => void;

/**
 * Counts stored and dropped events. Drops are buffered and written together: a row that every request updates would
 * serialize all requests. A killed process loses the drops of its last seconds.
 */
export class EventCounts {
  readonly #clock: Clock;
  readonly #count: CountEvents;
  #drops = new Map<string, DropRow>();

  constructor(clock: Clock, count: CountEvents) {
    this.#clock = clock;
    this.#count = count;
  }

  /** Counts the events of a request. */
  add(accepted: number, drops: DropCounts): void {
    if (accepted > 0) this.#count('accepted', accepted);
    if (drops.size === 0) return;
    const day = dayOf(this.#clock.now());
    for (const [reason, events] of drops) {
      this.#count(reason, events);
      this.#addDrop({ day, reason, events });
    }
  }

  /** Empties the buffer of drops and returns them. */
  takeDrops(): readonly DropRow[] {
    const drops = [...this.#drops.values()];
    this.#drops = new Map();
    return drops;
  }

  /** Returns drops to the buffer. */
  returnDrops(drops: readonly DropRow[]): void {
    for (const drop of drops) this.#addDrop(drop);
  }

  #addDrop(drop: DropRow): void {
    const key = `${drop.day} ${drop.reason}`;
    const events = (this.#drops.get(key)?.events ?? 0) + drop.events;
    this.#drops.set(key, { ...drop, events });
  }
}

/**
 * Writes the buffered drops to the database. After a failure they remain buffered; if the database executed the statement
 * without answering, they are counted twice rather than lost.
 */
export async function writeDrops({
  eventCounts,
  pool,
}: {
  readonly eventCounts: EventCounts;
  readonly pool: Pool;
}): Promise<void> {
  const drops = eventCounts.takeDrops();
  if (drops.length === 0) return;
  try {
    await retryConflicts(() => addDrops(pool, drops));
  } catch (error) {
    eventCounts.returnDrops(drops);
    throw error;
  }
}
