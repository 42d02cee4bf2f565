import type { BackgroundTask } from '#server/jobs/background-task.ts';
import type { WorkQueue } from '#server/jobs/work-queue.ts';

import { attemptDelivery, claimDueDeliveries, type DeliveryDependencies } from './deliver.ts';
import type { ClaimedDelivery } from './queries/deliveries.ts';
import { removeMessagesBefore } from './queries/messages.ts';
import { recordTimeBasedEvents, type TransitionDependencies } from './record-time-based-events.ts';

/** Deliveries in progress to one endpoint by one process, so that an endpoint that does not answer delays no other. */
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
      firstRunMs: SECOND_MS,
      intervalMs: 60 * SECOND_MS,
      event: 'webhooks.time_based_events',
      action: 'record events of licenses whose term ended',
      run: () => recordTimeBasedEvents(deps),
    },
    {
      name: 'webhook_cleanup',
      scope: 'process',
      firstRunMs: SECOND_MS,
      intervalMs: 60 * 60 * SECOND_MS,
      event: 'webhooks.cleanup',
      action: 'remove old webhook messages',
      run: async () => void (await removeOldMessages(deps)),
    },
  ];
}

function countByEndpoint(deliveries: ReadonlySet<ClaimedDelivery>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { endpointId } of deliveries)
    counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1);
  return counts;
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

const REMOVAL_PAGE_SIZE = 5_000;

/** The next run removes the rest. */
const MAX_REMOVAL_PAGES = 20;

/** Removes messages older than 30 days with their deliveries, and returns their number. */
export async function removeOldMessages({
  clock,
  pool,
}: Pick<DeliveryDependencies, 'clock' | 'pool'>): Promise<number> {
  const before = new Date(clock.now().getTime() - RETENTION_MS);
  let removed = 0;
  for (let page = 0; page < MAX_REMOVAL_PAGES; page++) {
    const count = await removeMessagesBefore(pool, before, REMOVAL_PAGE_SIZE);
    removed += count;
    if (count < REMOVAL_PAGE_SIZE) break;
  }
  return removed;
}
