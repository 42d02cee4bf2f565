import { KeyedQueue, type KeyedQueueOptions } from '#server/db/keyed-queue.ts';

/** Look-ups that may be under way together, each of another network. */
const MAX_CONCURRENT = 256;

const MAX_WAITING = 2_000;
const MAX_WAITING_OF_ONE_NETWORK = 500;

/**
 * Creates the queue of foreign keys that are new to a network: one look-up at a time for each network, so that each is
 * counted before the next is answered.
 * @param concernsAll whether an error of one look-up would hit every other too
 */
export function createGuessQueue(
  concernsAll: NonNullable<KeyedQueueOptions['concernsAll']>,
): KeyedQueue {
  return new KeyedQueue({
    maxConcurrent: MAX_CONCURRENT,
    maxWaiting: MAX_WAITING,
    maxPerKey: MAX_WAITING_OF_ONE_NETWORK,
    concernsAll,
  });
}
