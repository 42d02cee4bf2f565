import assert from 'node:assert/strict';

import { TEST_WEBHOOK_SECRETS, type TestService } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { PADDLE_MONTH, paddleDelivery, paddleId } from './paddle-events.ts';
import { TEST_PRICES } from '../test-catalog.ts';

type Receiver = Pick<TestService, 'clock' | 'post'>;

/** Posts an event with a valid signature; returns any response. */
export function postPaddle(service: Receiver, event: unknown): Promise<Answer> {
  const [secret = ''] = TEST_WEBHOOK_SECRETS.paddle;
  const { body, headers } = paddleDelivery(event, { secret, at: service.clock.now() });
  return service.post('/api/v1/webhooks/billing', body, headers);
}

/** Posts an event with a valid signature; asserts that it is accepted. */
export async function deliverPaddle(service: Receiver, event: unknown): Promise<Answer> {
  const answer = await postPaddle(service, event);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

/** The common options of the events of a new checkout: one-time and monthly. */
export function createPaddlePurchase(priceId: string = TEST_PRICES.personal) {
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
