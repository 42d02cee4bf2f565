/** Test webhooks in this project's own format: an envelope around any data, and the signature. */
import { createHmac } from 'node:crypto';

import { TEST_START } from '../test-clock.ts';

/** An event before serialization to JSON. */
export interface StandardTestEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** An event in the format of docs/integrations/payments/own-shop.md. */
export function standardEvent(
  type: string,
  data: Readonly<Record<string, unknown>>,
  at: Date = TEST_START,
): StandardTestEvent {
  return { type, timestamp: at.toISOString(), data };
}

/** A one-time purchase with one license for each price. */
export function standardPurchase(
  transactionId: string,
  priceIds: readonly string[],
  at: Date = TEST_START,
): StandardTestEvent {
  return standardEvent('purchase.completed', standardPurchaseData(transactionId, priceIds), at);
}

/** The data of {@link standardPurchase}. @param customerId default: Ann */
export function standardPurchaseData(
  transactionId: string,
  priceIds: readonly string[],
  customerId = 'customer-ann',
) {
  return {
    transaction_id: transactionId,
    customer: { id: customerId, email: 'ann@example.com', name: 'Ann Example', locale: 'en' },
    lines: priceIds.map((priceId) => ({ price_id: priceId })),
    total: 1_000,
  };
}

/**
 * The headers and the signed body of an event's request.
 * @param delivery the secret is base64, with or without `whsec_`; the id is the event's
 */
export function standardDelivery(
  event: unknown,
  { secret, at, id }: { readonly secret: string; readonly at: Date; readonly id: string },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  const time = String(Math.floor(at.getTime() / 1000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const v1 = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64');
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': `v1,${v1}`,
    },
    body,
  };
}
