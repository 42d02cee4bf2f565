import {
  attemptDelivery,
  claimDueDeliveries,
  type DeliveryDependencies,
} from '#server/features/outgoing-webhooks/deliver.ts';

/**
 * Claims and sends due deliveries of outgoing webhooks concurrently, without the service's loop. Returns their number.
 * @param limit the maximum for each endpoint
 */
export async function deliverDue(deps: DeliveryDependencies, limit: number): Promise<number> {
  const claimed = await claimDueDeliveries(deps, limit, new Map());
  await Promise.all(claimed.map((delivery) => attemptDelivery(deps, delivery)));
  return claimed.length;
}
