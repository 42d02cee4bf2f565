import type { Pool } from 'pg';
import type { Clock } from '#server/clock.ts';
import { Batcher, type BatchObserver, type BatchQueue } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive } from '#server/db/database-errors.ts';
import { withEventDay } from './create-event-partitions.ts';
import { storeEvents, type EventsToStore, type StoredCount } from './queries/events.ts';

/** Carries the events of requests to the database. */
export type EventBatch = BatchQueue<EventsToStore, StoredCount>;

/** Events in one statement: a larger one wins nothing more, and its last caller waits longer. */
const MAX_BATCH_SIZE = 1_000;

/** From as many waiting events on, a second batch is under way beside the first. */
const OVERLAP_FROM = 64;

/** At 10,000 requests a second this many wait for less than a second. */
const MAX_QUEUE_LENGTH = 8_192;

/** Makes the batch in which events travel. */
export function createEventBatch(
  ctx: { readonly pool: Pool; readonly clock: Clock },
  observer: BatchObserver,
): EventBatch {
  return new Batcher({
    name: 'events',
    observer,
    maxBatchSize: MAX_BATCH_SIZE,
    sizeOf: ({ events }) => Math.max(1, events.length),
    overlapFrom: OVERLAP_FROM,
    maxQueueLength: MAX_QUEUE_LENGTH,
    isUnresponsive: (error) => isDatabaseUnresponsive(ctx.pool, error),
    execute: (requests) => storeRequests(ctx, requests),
  });
}

/**
 * Stores the events of requests durably and says of each request how many of them were new. An event that two of them
 * bring belongs to the first.
 */
export async function storeRequests(
  { pool, clock }: { readonly pool: Pool; readonly clock: Clock },
  requests: readonly EventsToStore[],
): Promise<readonly StoredCount[]> {
  const distinct = withoutRepetitions(requests);
  const now = clock.now();
  return withEventDay(pool, now, () => storeEvents(pool, distinct, now));
}

function withoutRepetitions(requests: readonly EventsToStore[]): readonly EventsToStore[] {
  if (requests.length === 1) return requests;
  const seen = new Set<string>();
  return requests.map((request) => {
    const events = request.events.filter(({ eventId }) => !seen.has(eventId));
    for (const { eventId } of events) seen.add(eventId);
    return events.length === request.events.length ? request : { ...request, events };
  });
}
