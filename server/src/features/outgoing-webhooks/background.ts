import { deleteInBatches } from '#server/db/delete-in-batches.ts';
import type { BackgroundTask } from '#server/jobs/background-task.ts';
import type { WorkQueue } from '#server/jobs/work-queue.ts';

import { attemptDelivery, claimDueDeliveries, type DeliveryDependencies } from './deliver.ts';
import type { ClaimedDelivery } from './queries/deliveries.ts';
import { removeMessagesBefore } from './queries/messages.ts';
import { recordTimeBasedEvents, type TransitionDependencies } from './record-time-based-events.ts';

/** Deliveries in progress to one endpoint by one process, so that an unresponsive endpoint delays no other. */
const MAX_PER_ENDPOINT = 16;

const SECOND_MS = 1_000;

/** Creates the queue of due deliveries. */
export function createDeliveryQueue(deps: DeliveryDependencies): WorkQueue<ClaimedDelivery> {
  return {
    name: 'webhook_deliveries',
    event: 'webhooks.claim',
    action: 'claim due webhook deliveries',
    claim: (inProgress) => claimDueDeliveries(deps, MAX_PER_ENDPOINT, countByEndpoint(inProgress)),
    process: (delivery, signal) => processDelivery(deps, delivery, signal),
    // With half of an endpoint's share free: fewer queries than one for each delivery.
    shouldClaimMore: ({ endpointId }, inProgress) =>
      countByEndpoint(inProgress).get(endpointId) === MAX_PER_ENDPOINT / 2,
  };
}

export function createWebhookTasks(deps: TransitionDependencies): readonly BackgroundTask[] {
  return [
    {
      name: 'time_based_events',
      scope: 'process',
      isForLeader: true,
      firstRunMs: SECOND_MS,
      intervalMs: 60 * SECOND_MS,
      event: 'webhooks.time_based_events',
      action: 'record events of licenses whose term ended',
      run: () => recordTimeBasedEvents(deps),
    },
    {
      name: 'webhook_cleanup',
      scope: 'process',
      isForLeader: true,
      firstRunMs: SECOND_MS,
      intervalMs: 60 * 60 * SECOND_MS,
      event: 'webhooks.cleanup',
      action: 'remove old webhook messages',
      run: (signal) => removeOldMessages(deps, signal),
    },
  ];
}

function countByEndpoint(deliveries: ReadonlySet<ClaimedDelivery>): ReadonlyMap<string, number> {
  const byEndpoint = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
  return new Map([...byEndpoint].map(([endpointId, group]) => [endpointId, group.length]));
}

async function processDelivery(
  deps: DeliveryDependencies,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<void> {
  try {
    await attemptDelivery(deps, delivery, signal);
  } catch (error) {
    const { messageId, endpointId } = delivery;
    const fields = { event: 'webhooks.outcome_lost', err: error, messageId, endpointId };
    deps.log.warn(fields, 'could not store the outcome of a delivery; it will be sent again');
  }
}

/** How long messages are listed and can be replayed. */
const RETENTION_MS = 30 * 86_400_000;

const MAX_REMOVED = 5_000;

/** Removes messages older than 30 days with their deliveries. */
async function removeOldMessages(
  { clock, pool }: TransitionDependencies,
  signal: AbortSignal,
): Promise<void> {
  const before = new Date(clock.now().getTime() - RETENTION_MS);
  await deleteInBatches(signal, MAX_REMOVED, (limit) => removeMessagesBefore(pool, before, limit));
}
