import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import {
  gumroadSale,
  gumroadSubscriber,
  startGumroadApiStub,
} from '../../../../../test/payment-providers/gumroad-sales.ts';
import { answerJson } from '../../../../../test/payment-providers/paddle-api-stub.ts';
import { createTestClock } from '../../../../../test/test-clock.ts';
import { ProviderApiError } from '../provider-api.ts';
import { createGumroadApi } from './gumroad-api.ts';

const TOKEN = 'the access token of the tests';
const gumroad = await startGumroadApiStub(TOKEN);
const options = { url: gumroad.url, accessToken: TOKEN, clock: createTestClock() };
const api = createGumroadApi(options);
const SALE = String(gumroadSale()['id']);

beforeEach(() => {
  gumroad.sales = [gumroadSale()];
  gumroad.subscribers = [gumroadSubscriber()];
  gumroad.failure = null;
});

test('finds a sale and a membership by their encoded ids, with the token in a header', async () => {
  assert.deepEqual(await api.findSale(SALE), gumroadSale());
  assert.deepEqual(gumroad.requests.at(-1), {
    url: '/v2/sales/FO8TXN-dbxYaBdahG97Y-Q%3D%3D',
    authorization: `Bearer ${TOKEN}`,
  });
  assert.deepEqual(await api.findSubscriber('sub-one=='), gumroadSubscriber());
});

test('returns null for what the account does not have, and for an invalid id without a request', async () => {
  assert.equal(await api.findSale('another=='), null);
  gumroad.failure = answerJson(404, { success: false });
  assert.equal(await api.findSubscriber('sub-one=='), null);
  const asked = gumroad.requests.length;
  for (const id of ['', '..', 'a/b', 'a?b', 'a'.repeat(101)]) {
    assert.equal(await api.findSale(id), null);
  }
  assert.equal(gumroad.requests.length, asked);
});

test('reports why Gumroad gave no usable answer, without the token', async () => {
  const failures = [
    [answerJson(401, '{}'), 'Gumroad answers 401', null],
    [answerJson(429, '{}', { 'retry-after': '30' }), /limits the rate/u, 30],
    [answerJson(200, 'no JSON'), 'Gumroad sent an invalid response', null],
    [answerJson(200, { success: true }), 'Gumroad sent an invalid response', null],
    [answerJson(200, { success: true, sale: gumroadSale({ id: 'x' }) }), /invalid response/u, null],
    [answerJson(200, 'x'.repeat(300_000)), /invalid response/u, null],
  ] as const;
  for (const [failure, expected, retryAfter] of failures) {
    gumroad.failure = failure;
    const error: unknown = await api.findSale(SALE).catch((reason: unknown) => reason);
    assert.ok(error instanceof ProviderApiError, String(error));
    if (typeof expected === 'string') assert.equal(error.message, expected);
    else assert.match(error.message, expected);
    assert.equal(error.retryAfterSeconds, retryAfter);
    assert.doesNotMatch(error.message, /access token of/u);
  }
});

test('gives up on a server that does not answer', async () => {
  gumroad.failure = () => {};
  const impatient = createGumroadApi({ ...options, timeoutMs: 50 });
  await assert.rejects(impatient.findSale(SALE), new ProviderApiError('Gumroad cannot be reached'));
});
