/**
 * Webhooks of Paddle Billing for tests: one builder for each kind of event, with the fields of real events, and
 * the signature. Every builder has defaults, so that a test sets only the relevant fields:
 *
 * ```ts
 * const purchase = paddleTransactionCompleted({ transactionId: paddleId('txn', 'ann'), lines: [{ priceId }] });
 * const delivery = paddleDelivery(purchase, { secret, at: clock.now() });
 * ```
 *
 * `data` overrides any field of the event.
 */
import { createHmac } from 'node:crypto';

import {
  paddleId,
  writeTime,
  PADDLE_IDS,
  PADDLE_MONTH,
  paddleLineId,
  paddlePeriod,
  paddleEvent,
  type PaddleEvent,
  type PaddleEventOptions,
} from './paddle-event-parts.ts';
import { TEST_START } from '../test-clock.ts';

export { PADDLE_IDS, PADDLE_MONTH, paddleEvent, paddleId, paddleLineId, paddlePeriod };
export type { PaddleEvent, PaddleEventOptions };
export type { PaddleCycle, PaddleLine, PaddlePeriod } from './paddle-event-parts.ts';
export {
  paddleAdjustment,
  type PaddleAdjustedLine,
  type PaddleAdjustmentOptions,
} from './paddle-adjustments.ts';
export {
  paddleSubscription,
  type PaddleSubscriptionOptions,
  type PaddleSubscriptionType,
} from './paddle-subscriptions.ts';
export {
  paddleTransaction,
  paddleTransactionCompleted,
  type PaddleTransactionOptions,
  type PaddleTransactionType,
} from './paddle-transactions.ts';

export interface PaddleCustomerOptions extends PaddleEventOptions {
  readonly customerId?: string;
  /** Default: an address at example.com derived from the id. */
  readonly email?: string;
  readonly name?: string | null;
  /** Default: `en`. */
  readonly locale?: string;
}

/**
 * The value of `Billing-Signature` (as of `Paddle-Signature`) for a body.
 * @param body the exact bytes
 * @param at the signed time, truncated to seconds
 */
export function signPaddle(body: string | Uint8Array, secret: string, at: Date): string {
  const ts = String(Math.floor(at.getTime() / 1000));
  const h1 = createHmac('sha256', secret).update(`${ts}:`).update(body).digest('hex');
  return `ts=${ts};h1=${h1}`;
}

/** The body and the headers of an event's request, with a valid signature. */
export function paddleDelivery(
  event: unknown,
  { secret, at }: { readonly secret: string; readonly at: Date },
): { readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const body = JSON.stringify(event);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'billing-signature': signPaddle(body, secret, at),
    },
  };
}

/** Events about customers, the only ones with an e-mail address. */
export function paddleCustomer(
  type: 'created' | 'imported' | 'updated',
  options: PaddleCustomerOptions = {},
): PaddleEvent {
  const occurredAt = options.occurredAt ?? TEST_START;
  const id = options.customerId ?? PADDLE_IDS.customer;
  const data = {
    id,
    name: options.name === undefined ? 'Ann Example' : options.name,
    email: options.email ?? `${id}@example.com`,
    marketing_consent: false,
    status: 'active',
    locale: options.locale ?? 'en',
    custom_data: null,
    import_meta: null,
    created_at: writeTime(occurredAt),
    updated_at: writeTime(occurredAt),
  };
  return paddleEvent(`customer.${type}`, data, options);
}
