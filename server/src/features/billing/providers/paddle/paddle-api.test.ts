import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  answerJson,
  startPaddleApiStub,
} from '../../../../../test/payment-providers/paddle-api-stub.ts';
import { createTestClock } from '../../../../../test/test-clock.ts';
import { createPaddleApi, PaddleApiError } from './paddle-api.ts';

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

/** What is told of a failure. */
async function failure(asked = api): Promise<readonly [string, number | null]> {
  const error: unknown = await asked.findCustomer('ctm_1').catch((reason: unknown) => reason);
  assert.ok(error instanceof PaddleApiError);
  assert.doesNotMatch(error.message, /pdl_secret_key|ann@/u);
  return [error.message, error.retryAfterSeconds];
}

test('a customer is asked for with the key, and given as it is now', async () => {
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

test('what cannot be used of a customer is not known: an address is held to the same rule as everywhere', async () => {
  const strange = { email: 'ann@example.org, eve@evil.example', name: 'A\r\nBcc: x', locale: '?' };
  paddle.answer = answerJson(200, { data: { ...customer, ...strange } });
  const found = await api.findCustomer('ctm_1');
  assert.deepEqual(found, { email: null, name: null, locale: null });
});

test('nobody of that id is null; what cannot be an id is nobody without being asked for', async () => {
  paddle.answer = answerJson(404, { error: { code: 'not_found' } });
  assert.equal(await api.findCustomer('ctm_2'), null);
  const asked = requests.length;
  for (const id of ['', '..', 'a/b', 'a?b', 'a'.repeat(201)]) {
    assert.equal(await api.findCustomer(id), null);
  }
  assert.equal(requests.length, asked);
});

test('an address without a log of events is an error, and not the end of the log', async () => {
  paddle.answer = answerJson(404, { error: { code: 'not_found' } });
  await assert.rejects(api.listEvents('evt_1'), new PaddleApiError('Paddle answers 404'));
});

test('a pause that is asked for is told in seconds, within reason', async () => {
  for (const [header, seconds] of [
    ['7', 7],
    ['0', 1],
    ['999999', 3_600],
    ['soon', 60],
    [undefined, 60],
  ] as const) {
    paddle.answer = answerJson(429, {}, header === undefined ? {} : { 'retry-after': header });
    assert.deepEqual(await failure(), ['Paddle asks for a pause (429)', seconds]);
  }
  const date = new Date(clock.now().getTime() + 30_000).toUTCString();
  paddle.answer = answerJson(429, {}, { 'retry-after': date });
  assert.deepEqual(await failure(), ['Paddle asks for a pause (429)', 30]);
});

test('refusals, nonsense and silence are told apart, and nothing is followed elsewhere', async () => {
  paddle.answer = answerJson(403, { error: { detail: 'ann@example.org' } });
  assert.deepEqual(await failure(), ['Paddle answers 403', null]);
  paddle.answer = answerJson(503, 'busy');
  assert.deepEqual(await failure(), ['Paddle answers 503', null]);
  const strange = ['Paddle answers something that is not understood', null];
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
    assert.deepEqual(await failure(), strange);
  }
  const away = ['Paddle cannot be reached', null];
  paddle.answer = answerJson(302, '', { location: `${url}/elsewhere` });
  assert.deepEqual(await failure(), away);
  assert.notEqual(requests.at(-1)?.url, '/elsewhere');
  paddle.answer = (request) => void request.socket.destroy();
  assert.deepEqual(await failure(), away);
  paddle.answer = () => {};
  const impatient = createPaddleApi({ ...options, timeoutMs: 200 });
  const startedAt = performance.now();
  assert.deepEqual(await failure(impatient), away);
  assert.ok(performance.now() - startedAt < 10_000);
});
