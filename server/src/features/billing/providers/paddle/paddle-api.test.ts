import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  answerJson,
  startPaddleApiStub,
} from '../../../../../test/payment-providers/paddle-api-stub.ts';
import { createTestClock } from '../../../../../test/test-clock.ts';
import { createPaddleApi } from './paddle-api.ts';
import { ProviderApiError } from '../provider-api.ts';

const paddle = await startPaddleApiStub();
const { requests, url } = paddle;
const clock = createTestClock();
const options = { url, apiKey: 'pdl_secret_key', clock };
const api = createPaddleApi(options);

const customer = {
  id: 'ctm_1',
  email: 'ann@example.org',
  name: null,
  locale: 'de',
  updated_at: '2027-02-03T04:05:06.789123456Z',
  a_field_of_the_future: { is: 'ignored' },
};

/** Returns the message and delay of the error. */
async function failure(client = api): Promise<readonly [string, number | null]> {
  const error: unknown = await client.findCustomer('ctm_1').catch((reason: unknown) => reason);
  assert.ok(error instanceof ProviderApiError);
  assert.doesNotMatch(error.message, /pdl_secret_key|ann@/u);
  return [error.message, error.retryAfterSeconds];
}

test('findCustomer sends the API key and returns the current details', async () => {
  paddle.answer = answerJson(200, { data: customer, meta: { request_id: 'x' } });
  assert.deepEqual(await api.findCustomer('ctm_1'), {
    email: 'ann@example.org',
    name: null,
    locale: 'de',
  });
  assert.deepEqual(requests.at(-1), {
    url: '/customers/ctm_1',
    authorization: 'Bearer pdl_secret_key',
  });
});

test('findCustomer drops invalid addresses, names and locales', async () => {
  const invalid = { email: 'ann@example.org, eve@evil.example', name: 'A\r\nBcc: x', locale: '?' };
  paddle.answer = answerJson(200, { data: { ...customer, ...invalid } });
  const found = await api.findCustomer('ctm_1');
  assert.deepEqual(found, { email: null, name: null, locale: null });
});

test('findCustomer returns null for an unknown id, and for an invalid one without a request', async () => {
  paddle.answer = answerJson(404, { error: { code: 'not_found' } });
  assert.equal(await api.findCustomer('ctm_2'), null);
  const asked = requests.length;
  for (const id of ['', '..', 'a/b', 'a?b', 'a'.repeat(201)]) {
    assert.equal(await api.findCustomer(id), null);
  }
  assert.equal(requests.length, asked);
});

test('listEvents rejects with 404 if the URL has no event log', async () => {
  paddle.answer = answerJson(404, { error: { code: 'not_found' } });
  await assert.rejects(api.listEvents('evt_1'), new ProviderApiError('Paddle answers 404'));
});

test('a rate limit is reported with a delay between a second and an hour', async () => {
  for (const [header, seconds] of [
    ['7', 7],
    ['0', 1],
    ['999999', 3_600],
    ['soon', 60],
    [undefined, 60],
  ] as const) {
    paddle.answer = answerJson(429, {}, header === undefined ? {} : { 'retry-after': header });
    assert.deepEqual(await failure(), ['Paddle limits the rate of requests (429)', seconds]);
  }
  const date = new Date(clock.now().getTime() + 30_000).toUTCString();
  paddle.answer = answerJson(429, {}, { 'retry-after': date });
  assert.deepEqual(await failure(), ['Paddle limits the rate of requests (429)', 30]);
});

test('distinguishes error statuses, invalid responses and timeouts, and follows no redirects', async () => {
  paddle.answer = answerJson(403, { error: { detail: 'ann@example.org' } });
  assert.deepEqual(await failure(), ['Paddle answers 403', null]);
  paddle.answer = answerJson(503, 'busy');
  assert.deepEqual(await failure(), ['Paddle answers 503', null]);
  const invalid = ['Paddle sent an invalid response', null];
  const bodies = [
    'not json',
    '[]',
    { data: {} },
    { data: { ...customer, email: 7 } },
    { data: { ...customer, id: null } },
    `"${'x'.repeat(4 * 1_048_576)}"`,
  ];
  for (const body of bodies) {
    paddle.answer = answerJson(200, body);
    assert.deepEqual(await failure(), invalid);
  }
  const unreachable = ['Paddle cannot be reached', null];
  paddle.answer = answerJson(302, '', { location: `${url}/elsewhere` });
  assert.deepEqual(await failure(), unreachable);
  assert.notEqual(requests.at(-1)?.url, '/elsewhere');
  paddle.answer = (request) => void request.socket.destroy();
  assert.deepEqual(await failure(), unreachable);
  paddle.answer = () => {};
  const hasty = createPaddleApi({ ...options, timeoutMs: 200 });
  const startedAt = performance.now();
  assert.deepEqual(await failure(hasty), unreachable);
  assert.ok(performance.now() - startedAt < 10_000);
});
