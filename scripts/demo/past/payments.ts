import { applyEvents } from '#server/features/billing/apply-events.ts';
import { findAdapter } from '#server/features/billing/providers/adapters.ts';
import { processEvent } from '#server/features/billing/receive-webhook.ts';
import type { ReceivedEvent } from '#server/features/billing/received-event.ts';

import type { ShopEvent } from '../payments/sale.ts';
import { SHOPS } from '../payments/shops.ts';
import { runAt } from '../time.ts';
import type { PlannedSale } from '../world/plan.ts';
import type { World } from './world.ts';

/** Webhooks arrive some seconds after the payment. */
export const DELAY_MS = 2_400;

/** Stores and applies one event after the other, as the service does after it has verified a signature. */
export async function receiveEvents(
  { context }: Pick<World, 'context'>,
  events: readonly ShopEvent[],
): Promise<void> {
  for (const { at, body, ...event } of events) {
    const { adapter, delivery } = toDelivery({ at, body, ...event });
    await runAt(at.getTime() + DELAY_MS, () => processEvent(context, adapter, delivery, body));
  }
}

function toDelivery({ provider, body, headers }: ShopEvent) {
  const adapter = findAdapter(provider);
  if (adapter === undefined) throw new Error(`there is no adapter for ${provider}`);
  return { adapter, delivery: { headers, rawBody: Buffer.from(JSON.stringify(body)) } };
}

/** Reads an event as the service stores it. @throws MalformedEventError */
export function readEvent(event: ShopEvent): ReceivedEvent {
  const { adapter, delivery } = toDelivery(event);
  const { rawBody: raw } = delivery;
  const receivedAt = new Date(event.at.getTime() + DELAY_MS);
  return { ...adapter.normalize(event.body, delivery), receivedAt, raw, headers: event.headers };
}

/** Applies the events of a purchase, which create its licenses, at once. */
export async function applyPurchase({ context }: World, { sale }: PlannedSale): Promise<void> {
  await applyEvents(context, SHOPS[sale.provider].purchase(sale).map(readEvent));
}

/** Everything that payment providers report after a purchase, in the order of time. */
export function listLaterPayments({ nowMs, plans }: World): ShopEvent[] {
  return plans.sales
    .flatMap(listLaterEvents)
    .filter(({ at }) => at.getTime() < nowMs)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

function listLaterEvents({ sale, renewals, changes, moneyBack }: PlannedSale): ShopEvent[] {
  const shop = SHOPS[sale.provider];
  return [
    ...Array.from({ length: renewals }, (_, index) => shop.renew(sale, index + 1)),
    ...changes.map((change) => shop.change(sale, change)),
    moneyBack === null ? [] : shop.moneyBack(sale, moneyBack),
  ].flat();
}

const EVENTS_AT_ONCE = 100;

/** Applies events in few transactions. Licenses that they create get the time of the first event. */
export async function applyTogether(
  { context }: World,
  events: readonly ShopEvent[],
): Promise<void> {
  for (let start = 0; start < events.length; start += EVENTS_AT_ONCE) {
    const batch = events.slice(start, start + EVENTS_AT_ONCE).map(readEvent);
    const [first] = batch;
    if (first !== undefined) {
      await runAt(first.receivedAt.getTime(), () => applyEvents(context, batch));
    }
  }
}
