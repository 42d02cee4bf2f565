import assert from 'node:assert/strict';
import { test } from 'node:test';

import { listJobs } from '#server/jobs/queries.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  answerJson,
  startPaddleApiStub,
  type StubAnswer,
} from '../../../test/payment-providers/paddle-api-stub.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import {
  stripeChargeRefunded,
  stripeCheckoutCompleted,
  stripeDelivery,
} from '../../../test/payment-providers/stripe-events.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { createTestClock } from '../../../test/test-clock.ts';
import { lookUpCheckout } from './look-up-checkout.ts';
import { createStripeApi } from './providers/stripe/stripe-api.ts';
import { ProviderApiError } from './providers/provider-api.ts';

// The stub answers whatever it is asked.
const stub = await startPaddleApiStub();
const clock = createTestClock();
const stripeApi = createStripeApi({ url: stub.url, apiKey: 'rk_live_test', clock });
const service = await startTestService({ stripeApi, clock });
const { context } = service;
const shop = openStandardShop(service);

function item(id: string, priceId: string, quantity = 1) {
  return { id, price: { id: priceId, recurring: null }, quantity, amount_total: 1_000 };
}

const PAGES: StubAnswer = (request, response) => {
  const { searchParams } = new URL(request.url ?? '', 'http://localhost');
  const isFirst = searchParams.get('starting_after') === null;
  const page = isFirst
    ? { data: [item('li_1', 'price_personal', 3)], has_more: true }
    : { data: [item('li_2', 'price_sellers')], has_more: false };
  answerJson(200, page)(request, response);
};

/** Delivers a checkout without metadata, as that of a payment link. */
async function deliver(name: string, changes: object = {}): Promise<{ message: unknown }> {
  const event = stripeCheckoutCompleted({
    eventId: `evt_${name}`,
    checkoutId: `cs_live_${name}`,
    paymentIntentId: `pi_${name}`,
    priceId: null,
    ...changes,
  });
  return send(event);
}

async function send(event: unknown): Promise<{ message: unknown }> {
  const secret = TEST_WEBHOOK_SECRETS.stripe[0] ?? '';
  const { body, headers } = stripeDelivery(event, { secret, at: clock.now() });
  const answer = await service.post('/api/v1/webhooks/stripe', body, headers);
  return { message: Reflect.get(Object(answer.body), 'message') };
}

async function readMessage(eventId: string): Promise<string | null> {
  const { rows } = await context.pool.query<{ message: string | null }>(
    'select message from billing_events where event_id = $1',
    [eventId],
  );
  return rows[0]?.message ?? null;
}

test('a cart without metadata gets its licenses from the line items that Stripe lists', async () => {
  stub.answer = PAGES;
  const { message } = await deliver('cart');
  assert.match(String(message), /Stripe does not report what this checkout sold/);
  assert.deepEqual(await shop.check('cs_live_cart'), []);
  await runDueJobs(context);
  const licenses = await shop.check('cs_live_cart');
  assert.deepEqual(
    licenses.map((each) => [each.product_type, each.status]),
    [
      ['personal', 'active'],
      ['sellers', 'active'],
    ],
  );
  assert.equal(await readMessage('evt_cart'), null);
  assert.deepEqual(
    stub.requests.map(({ url, authorization }) => [url, authorization]),
    [
      ['/v1/checkout/sessions/cs_live_cart/line_items?limit=100', 'Bearer rk_live_test'],
      [
        '/v1/checkout/sessions/cs_live_cart/line_items?limit=100&starting_after=li_1',
        'Bearer rk_live_test',
      ],
    ],
  );
  // The event again, and a refund, find what was looked up.
  await deliver('cart', { eventId: 'evt_cart_again' });
  assert.equal(await readMessage('evt_cart_again'), null);
  await send(stripeChargeRefunded({ paymentIntentId: 'pi_cart', amount: 1_000 }));
  assert.deepEqual(
    (await shop.check('cs_live_cart')).map((each) => each.status),
    ['refunded', 'refunded'],
  );
});

test('a payment that Stripe refuses to describe needs attention with the cause that Stripe names, and is tried again', async () => {
  const cause = 'The provided key rk_live_123 does not have the required permissions.';
  stub.answer = answerJson(403, { error: { message: cause } });
  await deliver('refused');
  const jobs = await listJobs(context.pool, ['waiting'], 10);
  assert.ok(jobs.some(({ name }) => name === 'look_up_checkout'));
  const checkout = {
    provider: 'stripe' as const,
    transactionId: 'pi_refused',
    checkoutId: 'cs_live_refused',
  };
  await assert.rejects(
    lookUpCheckout(context, checkout),
    (error) => error instanceof ProviderApiError && error.status === 403,
  );
  const message =
    /Needs attention: .*The provided key \[key\] does not have the required permissions\." when it is asked: check/;
  assert.match((await readMessage('evt_refused')) ?? '', message);
  await deliver('refused', { eventId: 'evt_refused_again' });
  assert.match((await readMessage('evt_refused_again')) ?? '', message);
  assert.equal((await shop.check('cs_live_refused')).length, 0);
  stub.answer = answerJson(429, {}, { 'retry-after': '90' });
  await lookUpCheckout(context, checkout);
  stub.answer = answerJson(404, {});
  await lookUpCheckout(context, checkout);
  assert.deepEqual(await shop.check('cs_live_refused'), []);
  stub.answer = answerJson(200, { data: [item('li_9', 'price_personal')] });
  await lookUpCheckout(context, checkout);
  await lookUpCheckout(context, checkout);
  assert.equal((await shop.check('cs_live_refused')).length, 1);
});

test('a key of the live mode is not used for sessions of the test mode', async () => {
  const before = stub.requests.length;
  assert.equal(await stripeApi.listLineItems('cs_test_1'), null);
  assert.equal(await stripeApi.listLineItems('cs_live_1/../../customers'), null);
  assert.equal(stub.requests.length, before);
});
