import assert from 'node:assert/strict';

import { TEST_WEBHOOK_SECRETS, type TestService } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { PADDLE_MONTH, paddleDelivery, paddleId } from './paddle-events.ts';
import { TEST_PRICES } from '../test-catalog.ts';

type Receiver = Pick<TestService, 'clock' | 'post'>;

/** Posts an event to a test service, well signed, whatever it answers. */
export function postPaddle(service: Receiver, event: unknown): Promise<Answer> {
  const [secret = ''] = TEST_WEBHOOK_SECRETS.billing;
  const { body, headers } = paddleDelivery(event, { secret, at: service.clock.now() });
  return service.post('/api/v1/webhooks/billing', body, headers);
}

/** Delivers an event to a test service, well signed, which must take it. */
export async function deliverPaddle(service: Receiver, event: unknown): Promise<Answer> {
  const answer = await postPaddle(service, event);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** What the events of a checkout of its own have in common, when it is paid once and when by the month. */
export function makePaddlePurchase(priceId: string = TEST_PRICES.personal) {
  const transactionId = paddleId('txn');
  const subscriptionId = paddleId('sub');
  const customerId = paddleId('ctm');
  const ids = { transactionId, subscriptionId, customerId };
  return {
    ...ids,
    once: { ...ids, subscriptionId: null, lines: [{ priceId }] },
    monthly: { ...ids, lines: [{ priceId, cycle: PADDLE_MONTH }] },
  };
}
