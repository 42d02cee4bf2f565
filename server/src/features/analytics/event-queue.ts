import type { Pool } from 'pg';

import type { Clock } from '#server/clock.ts';
import { Batcher, type BatchObserver, type BatchQueue } from '#server/db/batching/batcher.ts';
import { isDatabaseUnresponsive, isUnclassified } from '#server/db/database-errors.ts';
import { databaseUnavailable } from '#server/errors.ts';

import { withEventPartition } from './create-event-partitions.ts';
import { storeEvents, type EventsToStore, type StoredCount } from './queries/events.ts';

/** Stores the events of requests in batches. */
export type EventQueue = BatchQueue<EventsToStore, StoredCount>;

/** Events per statement: a larger batch is not faster, and its last caller waits longer. */
const MAX_BATCH_SIZE = 1_000;

/** Waiting events from which a second batch runs at the same time. */
const OVERLAP_FROM = 64;

/** At 10,000 requests a second these wait for less than a second. */
const MAX_QUEUE_LENGTH = 8_192;

interface StoreDependencies {
  readonly pool: Pool;
  readonly clock: Clock;
}

export function createEventQueue(deps: StoreDependencies, observer: BatchObserver): EventQueue {
  return new Batcher({
    name: 'events',
    observer,
    maxBatchSize: MAX_BATCH_SIZE,
    sizeOf: ({ events }) => Math.max(1, events.length),
    overlapFrom: OVERLAP_FROM,
    maxQueueLength: MAX_QUEUE_LENGTH,
    isUnresponsive: (error) => isDatabaseUnresponsive(deps.pool, error),
    execute: (requests) => storeRequests(deps, requests),
  });
}

/**
 * Stores the events of requests durably, and returns for each request how many of them were new.
 * @throws databaseUnavailable when a worker of Citus stops in between, which has no SQLSTATE: the client retries later
 */
export async function storeRequests(
  { pool, clock }: StoreDependencies,
  requests: readonly EventsToStore[],
): Promise<readonly StoredCount[]> {
  const now = clock.now();
  try {
    return await withEventPartition(pool, now, () => storeEvents(pool, requests, now));
  } catch (error) {
    throw isUnclassified(error) ? databaseUnavailable(error) : error;
  }
}
