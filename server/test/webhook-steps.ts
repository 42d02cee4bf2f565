import {
  attemptDelivery,
  claimDueDeliveries,
  type DeliveryDependencies,
} from '#server/features/outgoing-webhooks/deliver.ts';

/**
 * Claims and sends due deliveries of outgoing webhooks concurrently, without the service's loop. Returns their number.
 * @param limit the maximum for each endpoint
 */
export async function deliverDue(ctx: DeliveryDependencies, limit: number): Promise<number> {
  const claimed = await claimDueDeliveries(ctx, limit, new Map());
  await Promise.all(claimed.map((delivery) => attemptDelivery(ctx, delivery)));
  return claimed.length;
}
