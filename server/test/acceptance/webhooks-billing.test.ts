import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { activate, validate } from '../license-steps.ts';
import {
  paddleEvent,
  paddleId,
  paddleTransaction,
  paddleTransactionCompleted,
  signPaddle,
} from '../payment-providers/paddle-events.ts';
import { deliverPaddle, createPaddlePurchase } from '../payment-providers/paddle-steps.ts';
import { fromStart, SECOND_MS, TEST_START } from '../test-clock.ts';
import { validationErrorsOf, problem, readBody } from './bodies.ts';

const PATH = '/api/v1/webhooks/billing';
const MAX_BODY_BYTES = 1024 * 1024;

const service = await startTestService();
const unconfigured = await startTestService({ webhooks: { paddle: [], stripe: [] } });
const [secret = ''] = TEST_WEBHOOK_SECRETS.paddle;

/** Sends a text with a valid signature. */
function sendSigned(body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const signature = signPaddle(body, secret, service.clock.now());
  return service.post(PATH, body, { 'billing-signature': signature, ...headers });
}

async function check(transactionId: string): Promise<Readonly<Record<string, unknown>>> {
  return readBody((await service.get(`/api/v1/licenses/check/${transactionId}`)).body);
}

/** Returns the current values of metrics; 0 for missing ones. */
async function readCounts(names: readonly string[]): Promise<number[]> {
  const lines = (await service.context.metrics.render()).split('\n');
  return names.map((name) => {
    const line = lines.find((each) => each.startsWith(`latchkey_${name} `));
    return Number(line?.split(' ').at(-1) ?? 0);
  });
}

describe('200', () => {
  test('processed: a purchase creates a license, and the check returns its key', async () => {
    const { transactionId, once } = createPaddlePurchase();
    assert.equal((await check(transactionId))['status'], 'pending');
    const event = paddleTransactionCompleted(once);
    const answer = await deliverPaddle(service, event);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, { status: 'processed', message: null, event_id: event.event_id });
    const { license_key: key, licenses: _, ...license } = await check(transactionId);
    assert.match(String(key), /^LK-/);
    assert.deepEqual(license, {
      status: 'active',
      created_at: fromStart(0),
      expires_at: null,
      product_type: 'personal',
    });
    const { activation_id: id } = await activate(service, String(key), { machine_id: 'm' });
    assert.equal((await validate(service, String(key), id, 'm')).valid, true);
  });

  test('duplicate: a second delivery changes nothing', async () => {
    const { once } = createPaddlePurchase();
    const event = paddleTransactionCompleted(once);
    await deliverPaddle(service, event);
    const before = await service.count('licenses');
    const { body } = await deliverPaddle(service, event);
    assert.deepEqual(body, { status: 'duplicate', message: null, event_id: event.event_id });
    assert.equal(await service.count('licenses'), before);
  });

  test('ignored: events without effect and of unknown type, with the reason', async () => {
    for (const event of [
      paddleTransaction('payment_failed', createPaddlePurchase().once),
      paddleEvent('weather.changed', { id: 'w' }),
    ]) {
      const { status, message } = readBody((await deliverPaddle(service, event)).body);
      assert.equal(status, 'ignored');
      assert.ok(typeof message === 'string' && message.length > 10);
    }
  });

  test('ignored: a price that is not in the catalogue', async () => {
    const price = paddleId('pri');
    const { transactionId, once } = createPaddlePurchase(price);
    const { status, message } = readBody(
      (await deliverPaddle(service, paddleTransactionCompleted(once))).body,
    );
    assert.deepEqual(
      [status, message],
      ['ignored', `No product of the catalogue has the price ${price}.`],
    );
    assert.equal((await check(transactionId))['status'], 'pending');
  });

  test('counts each event by its outcome', async () => {
    const statuses = ['processed', 'duplicate', 'ignored', 'deferred'];
    const count = (): Promise<number[]> =>
      readCounts(
        statuses.map((status) => `payment_events_total{provider="paddle",status="${status}"}`),
      );
    const before = await count();
    const purchase = paddleTransactionCompleted(createPaddlePurchase().once);
    const malformed = { event_id: paddleId('evt'), event_type: 'transaction.completed', data: '' };
    for (const event of [purchase, purchase, paddleEvent('weather.changed', {}), malformed]) {
      await deliverPaddle(service, event);
    }
    assert.deepEqual(
      await count(),
      before.map((number) => number + 1),
    );
  });
});

describe('401', () => {
  const event = JSON.stringify(paddleTransactionCompleted());
  const sign = (signer: string, at = TEST_START) => signPaddle(event, signer, at);

  for (const [what, headers] of [
    ['no signature', {}],
    ['a malformed one', { 'billing-signature': 'h1' }],
    ['one by another secret', { 'billing-signature': sign('another') }],
    ['one of another body', { 'billing-signature': signPaddle('{}', secret, TEST_START) }],
  ] as const) {
    test(`${what}, before the body is read`, async () => {
      for (const body of [event, '{"not json']) {
        const answer = await service.post(PATH, body, { 'content-type': 'text/plain', ...headers });
        assert.deepEqual([answer.status, answer.body], [401, problem('invalid_signature')]);
      }
    });
  }

  test('no body at all', async () => {
    const answer = await service.send('POST', PATH);
    assert.deepEqual([answer.status, answer.body], [401, problem('invalid_signature')]);
  });

  test('a valid signature with another time has its own code', async () => {
    for (const seconds of [-31, 31]) {
      const at = new Date(TEST_START.getTime() + seconds * SECOND_MS);
      const answer = await service.post(PATH, event, { 'billing-signature': sign(secret, at) });
      assert.deepEqual([answer.status, answer.body], [401, problem('stale_signature')]);
    }
  });

  test('counts each refusal by its reason', async () => {
    const refusals = {
      missing: {},
      malformed: { 'billing-signature': 'h1' },
      mismatch: { 'billing-signature': sign('another') },
      stale: { 'billing-signature': sign(secret, new Date(0)) },
    };
    const count = (): Promise<number[]> =>
      readCounts(
        Object.keys(refusals).map(
          (reason) => `refusals_total{operation="webhook_paddle",reason="signature_${reason}"}`,
        ),
      );
    const before = await count();
    for (const headers of Object.values(refusals)) await service.post(PATH, event, headers);
    assert.deepEqual(
      await count(),
      before.map((number) => number + 1),
    );
  });
});

describe('404', () => {
  test('an unknown provider', async () => {
    for (const provider of ['paddle2', 'paypal', 'x'.repeat(200)]) {
      const answer = await service.post(`/api/v1/webhooks/${provider}`, {});
      assert.deepEqual([answer.status, answer.body], [404, problem('unknown_provider')]);
    }
  });
});

describe('405', () => {
  test('GET is refused with the allowed method', async () => {
    const answer = await service.get(PATH);
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
  });
});

describe('413', () => {
  test('accepts a body of 1 MiB, but not one byte more', async () => {
    const longest = 'x'.repeat(MAX_BODY_BYTES);
    assert.equal((await service.post(PATH, longest)).status, 401);
    const answer = await service.post(PATH, `${longest}x`);
    assert.deepEqual([answer.status, answer.body], [413, problem('payload_too_large')]);
  });
});

describe('415', () => {
  test('another media type with a valid signature', async () => {
    const answer = await sendSigned('a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    assert.deepEqual([answer.status, answer.body], [415, problem('unsupported_media_type')]);
  });
});

describe('422', () => {
  for (const [body, ...fault] of [
    ['', 'body', 'missing'],
    ['null', 'body', 'missing'],
    ['[]', 'body', 'dict_type'],
    ['{"a": }', 'body', 'json_invalid'],
    ['{}', 'body', 'value_error'],
    ['{"event_id": 5, "event_type": "x"}', 'body', 'value_error'],
    [`{"event_id": "${'x'.repeat(201)}", "event_type": "x"}`, 'body', 'value_error'],
  ] as const) {
    test(`rejects a signed body that is not an event: ${body.slice(0, 40)}`, async () => {
      const answer = await sendSigned(body);
      assert.equal(answer.status, 422, answer.text);
      assert.deepEqual(validationErrorsOf(answer.body), [fault]);
    });
  }
});

describe('503', () => {
  test('no secret is configured for the provider', async () => {
    for (const path of [PATH, '/api/v1/webhooks/stripe']) {
      const answer = await unconfigured.post(path, {});
      assert.deepEqual([answer.status, answer.body], [503, problem('billing_not_configured')]);
    }
  });
});

describe('other providers', () => {
  test('verifies each provider by its own scheme, at its own path', async () => {
    const body = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'ping',
      created: 1,
      data: {},
    });
    const t = Math.floor(TEST_START.getTime() / 1000);
    const [stripeSecret = ''] = TEST_WEBHOOK_SECRETS.stripe;
    const v1 = createHmac('sha256', stripeSecret).update(`${t}.${body}`).digest('hex');
    const headers = { 'stripe-signature': `t=${t},v1=${v1}` };
    const answer = await service.post('/api/v1/webhooks/stripe', body, headers);
    assert.equal(answer.status, 200, answer.text);
    assert.equal(readBody(answer.body)['event_id'], 'evt_1');
    for (const provider of ['stripe', 'lemonsqueezy', 'standard']) {
      const refused = await service.post(`/api/v1/webhooks/${provider}`, body);
      assert.deepEqual([refused.status, refused.body], [401, problem('invalid_signature')]);
    }
  });
});
