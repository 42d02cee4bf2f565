import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readBody } from '../../../../../test/acceptance/bodies.ts';
import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../../../test/harness.ts';
import {
  CREEM_CHECKOUT,
  CREEM_PRODUCT,
  creemCheckout,
  creemDelivery,
  creemSubscription,
} from '../../../../../test/payment-providers/creem-events.ts';
import { testCatalog } from '../../../../../test/test-catalog.ts';

const CATALOG = `
key_prefix: LK
trial: { product: solo }
products:
  - { id: solo, name: Solo, tier: solo, max_activations: 1, prices: { creem: [${CREEM_PRODUCT}] } }
`;

const service = await startTestService({ catalog: testCatalog(CATALOG) });
const [secret = ''] = TEST_WEBHOOK_SECRETS.creem;

async function receive(event: unknown): Promise<unknown> {
  const { body, headers } = creemDelivery(event, { secret });
  const answer = await service.post('/api/v1/webhooks/creem', body, headers);
  const { status, message } = readBody(answer.body);
  return [status, message];
}

test('the first payment may arrive before its checkout, and creates the only license', async () => {
  assert.deepEqual(await receive(creemSubscription('subscription.paid')), ['processed', null]);
  assert.deepEqual(await receive(creemCheckout({ isRecurring: true })), ['processed', null]);
  const checked = readBody((await service.get(`/api/v1/licenses/check/${CREEM_CHECKOUT}`)).body);
  assert.equal(checked['status'], 'active');
  assert.equal(await service.count('licenses'), 1);
});
