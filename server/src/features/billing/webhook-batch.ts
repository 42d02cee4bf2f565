import { Batcher, type BatchObserver } from '#server/db/batching/batcher.ts';
import {
  isConnectionFailure,
  isDatabaseUnresponsive,
  isTransientConflict,
} from '#server/db/database-errors.ts';

import {
  applyEvents,
  type ApplyContext,
  type Receipt,
  type ReceivedEvent,
  type WebhookBatch,
} from './apply-events.ts';
import { storeDeferredEvent } from './failed-events.ts';
import { isBillingLockTimeout } from './queries/ledger.ts';

/** A batch holds the lock of billing, so a larger one would keep others waiting for longer than it wins. */
const MAX_BATCH_SIZE = 100;

/** At 2,000 events a second the last of them waits for two seconds, and a provider for five. */
const MAX_QUEUE_LENGTH = 4_096;

/** Makes the batch in which webhooks travel. */
export function createWebhookBatch(ctx: ApplyContext, observer: BatchObserver): WebhookBatch {
  return new Batcher({
    name: 'webhooks',
    observer,
    maxBatchSize: MAX_BATCH_SIZE,
    maxQueueLength: MAX_QUEUE_LENGTH,
    isSilent: (error) => isDatabaseUnresponsive(ctx.pool, error),
    concernsAll: isBillingLockTimeout,
    execute: (events) => applyOrDefer(ctx, events),
  });
}

/**
 * Applies events; one that stands alone and cannot be applied is kept for later, since its sender can do nothing about it.
 * Of several the failure is thrown, and the batch takes them apart.
 */
async function applyOrDefer(
  ctx: ApplyContext,
  events: readonly ReceivedEvent[],
): Promise<readonly Receipt[]> {
  try {
    return await applyEvents(ctx, events);
  } catch (error) {
    const [alone, ...others] = events;
    const mayWorkAtOnce = isConnectionFailure(error) || isTransientConflict(error);
    if (alone === undefined || others.length > 0 || mayWorkAtOnce) throw error;
    return [await storeDeferredEvent(ctx, alone.kept, error)];
  }
}
