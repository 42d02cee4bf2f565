import {
  attemptDelivery,
  claimDueDeliveries,
  type DeliveryContext,
} from '#server/features/outgoing-webhooks/deliver.ts';

/**
 * Takes deliveries of outgoing webhooks that are due and makes them, all at once, without the loop that does so in the
 * service; gives how many there were.
 * @param limit how many for each endpoint at most
 */
export async function deliverDue(ctx: DeliveryContext, limit: number): Promise<number> {
  const claimed = await claimDueDeliveries(ctx, limit, new Map());
  await Promise.all(claimed.map((delivery) => attemptDelivery(ctx, delivery)));
  return claimed.length;
}
