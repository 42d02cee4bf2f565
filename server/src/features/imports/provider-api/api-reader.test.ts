import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerStripe } from '../../../../test/payment-providers/api-stand-ins.ts';
import { answerJson, type StubAnswer } from '../../../../test/payment-providers/paddle-api-stub.ts';
import { stripeSubscription } from '../../../../test/payment-providers/stripe-events.ts';
import { ProviderApiError } from '../../billing/providers/provider-api.ts';
import { readStripe } from './stripe.ts';
import { AUTHORIZATION, openReader, readAll, requests } from './test-reader.fixture.ts';

const good = answerStripe({ authorization: AUTHORIZATION, subscriptions: [], customers: [] });

function failing(...answers: readonly StubAnswer[]): StubAnswer {
  const queue = [...answers];
  return (request, response) => (queue.shift() ?? good)(request, response);
}

test('reads an API again after the time that a rate limit requires, and after server errors', async () => {
  const limited = answerJson(429, {}, { 'retry-after': '7' });
  const broken = answerJson(503, {});
  const api = openReader(failing(limited, limited, broken));
  assert.deepEqual(await readAll(readStripe(api)), []);
  assert.deepEqual(api.waits.slice(0, 2), [7_000, 7_000]);
  assert.equal(api.waits.length, 3);
});

test('ends when the API refuses the key, or fails four times', async () => {
  for (const [status, waits] of [
    [403, 0],
    [500, 3],
  ] as const) {
    const api = openReader(answerJson(status, { error: 'secret' }));
    const error = new ProviderApiError(`The API answers ${status}`, { status });
    await assert.rejects(readAll(readStripe(api)), error);
    assert.equal(api.waits.length, waits);
  }
});

test('ends with an invalid, endless or too large response, and follows no redirect', async () => {
  const invalid = new ProviderApiError('The API sent an invalid response');
  for (const body of ['<html>', '[]', { data: [] }, `"${'x'.repeat(16 * 1_048_576)}"`]) {
    await assert.rejects(readAll(readStripe(openReader(answerJson(200, body)))), invalid);
  }
  const page = { has_more: true, data: [stripeSubscription('updated').data.object] };
  const endless = readAll(readStripe(openReader(answerJson(200, page))));
  await assert.rejects(endless, /repeats a page of its list/u);
  const asked = requests.length;
  const elsewhere = answerJson(302, '', { location: '/elsewhere' });
  await assert.rejects(readAll(readStripe(openReader(elsewhere))), /cannot be reached/u);
  assert.ok(requests.slice(asked).every(({ url }) => url !== '/elsewhere'));
  const hasty = openReader(() => undefined, { timeoutMs: 100 });
  await assert.rejects(readAll(readStripe(hasty)), /cannot be reached/u);
});
