import { Batcher, type BatchObserver } from '#server/db/batching/batcher.ts';
import {
  isConnectionFailure,
  isDatabaseUnresponsive,
  isTransientConflict,
} from '#server/db/database-errors.ts';

import { applyEvents } from './apply-events.ts';
import type { ApplyDependencies, PaymentEventBatch } from './dependencies.ts';
import { storeFailedEvent } from './failed-events.ts';
import { isBillingLockTimeout } from './queries/ledger.ts';
import type { Receipt, ReceivedEvent } from './received-event.ts';

/** A batch keeps the lock of billing: a larger one would delay other processes for longer than it saves. */
const MAX_BATCH_SIZE = 100;

/** At 2,000 events a second the last event waits for two seconds; payment providers wait for five. */
const MAX_QUEUE_LENGTH = 4_096;

export function createPaymentEventBatch(
  deps: ApplyDependencies,
  observer: BatchObserver,
): PaymentEventBatch {
  return new Batcher({
    name: 'payment_events',
    observer,
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    isUnresponsive: (error) => isDatabaseUnresponsive(deps.pool, error),
    isSharedFailure: isBillingLockTimeout,
    execute: (events) => applyOrStore(deps, events),
  });
}

/**
 * Applies events. A single event that cannot be applied is stored for a retry, because its sender cannot fix it; the
 * failure of several events is thrown, so that the batch isolates the one at fault.
 */
async function applyOrStore(
  deps: ApplyDependencies,
  received: readonly ReceivedEvent[],
): Promise<readonly Receipt[]> {
  try {
    return await applyEvents(deps, received);
  } catch (error) {
    const [single, ...others] = received;
    const isRetriedAtOnce = isConnectionFailure(error) || isTransientConflict(error);
    if (single === undefined || others.length > 0 || isRetriedAtOnce) throw error;
    return [await storeFailedEvent(deps, single, error)];
  }
}
