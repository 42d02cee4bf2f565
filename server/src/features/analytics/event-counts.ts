import type { Clock } from '#server/clock.ts';
import type { DropCounts, DropReason } from './rules/select-events.ts';
import { dayOf, type Day } from './rules/days.ts';
import type { Context } from '#server/context.ts';
import { retryConflicts } from '#server/db/transaction.ts';
import { addDrops } from './queries/events.ts';

/** So many events of a day were not stored, for one reason. */
export interface DropRow {
  readonly day: Day;
  readonly reason: DropReason;
  readonly events: number;
}

/** Told of every event, for the metrics. */
export type CountEvents = (outcome: 'accepted' | DropReason, count: number) => void;

/**
 * Counts events by what became of them. The drops wait here until they are written down, all at once: a row that every
 * request changes would have all requests stand in line. A process that is killed loses those of its last seconds.
 */
export class EventCounts {
  readonly #clock: Clock;
  readonly #count: CountEvents;
  #drops = new Map<string, DropRow>();

  constructor(clock: Clock, count: CountEvents) {
    this.#clock = clock;
    this.#count = count;
  }

  /** Counts what became of a request. */
  add(accepted: number, drops: DropCounts): void {
    if (accepted > 0) this.#count('accepted', accepted);
    if (drops.size === 0) return;
    const day = dayOf(this.#clock.now());
    for (const [reason, events] of drops) {
      this.#count(reason, events);
      this.#addDrop({ day, reason, events });
    }
  }

  /** Gives the drops that were counted since the last call. */
  takeDrops(): readonly DropRow[] {
    const drops = [...this.#drops.values()];
    this.#drops = new Map();
    return drops;
  }

  /** Takes drops back that could not be written down. */
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
 * Writes down how many events were not stored since the last time. What cannot be written waits for the next time; where
 * the database was asked and did not answer, it may then be counted twice, which is better than not at all.
 */
export async function writeDrops({
  eventCounts,
  pool,
}: Pick<Context, 'eventCounts' | 'pool'>): Promise<void> {
  const drops = eventCounts.takeDrops();
  if (drops.length === 0) return;
  try {
    await retryConflicts(() => addDrops(pool, drops));
  } catch (error) {
    eventCounts.returnDrops(drops);
    throw error;
  }
}
