import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, test } from 'node:test';

import { retryDueEvents } from '#server/features/billing/replay-events.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { activate, validate } from '../license-steps.ts';
import {
  PADDLE_MONTH,
  paddleAdjustment,
  paddleCustomer,
  paddleDelivery,
  paddleEvent,
  paddleId,
  paddleSubscription,
  paddleTransaction,
  paddleTransactionCompleted,
  signPaddle,
} from '../paddle-events.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { faultsOf, problem, readBody } from './bodies.ts';

const PATH = '/api/v1/webhooks/billing';
const PERSONAL = 'pri_01aaaaaaaaaaaaaaaaaaaaaaaa';
const SELLERS = 'pri_01bbbbbbbbbbbbbbbbbbbbbbbb';
const MAX_BODY_BYTES = 1024 * 1024;

const service = await startTestService();
const unconfigured = await startTestService({ webhooks: { billing: [], stripe: [] } });
const [secret = ''] = TEST_WEBHOOK_SECRETS.billing;

function deliver(event: unknown): Promise<Answer> {
  const { body, headers } = paddleDelivery(event, { secret, at: service.clock.now() });
  return service.post(PATH, body, headers);
}

/** Sends a text, well signed whatever it is. */
function sendSigned(body: string, headers: Record<string, string> = {}): Promise<Answer> {
  const signature = signPaddle(body, secret, service.clock.now());
  return service.post(PATH, body, { 'billing-signature': signature, ...headers });
}

async function check(transactionId: string): Promise<Readonly<Record<string, unknown>>> {
  return readBody((await service.get(`/api/v1/licenses/check/${transactionId}`)).body);
}

async function deliverAll(...events: readonly unknown[]): Promise<unknown[]> {
  const statuses: unknown[] = [];
  for (const event of events) statuses.push(readBody((await deliver(event)).body)['status']);
  return statuses;
}

/** A checkout of its own. */
function anyPurchase(priceId = PERSONAL) {
  const transactionId = paddleId('txn');
  const subscriptionId = paddleId('sub');
  const customerId = paddleId('ctm');
  const line = { priceId, cycle: PADDLE_MONTH };
  const ids = { transactionId, subscriptionId, customerId };
  return {
    ...ids,
    once: { ...ids, subscriptionId: null, lines: [{ priceId }] },
    monthly: { ...ids, lines: [line] },
  };
}

function minutesLater(minutes: number): Date {
  return new Date(TEST_START.getTime() + minutes * 60 * SECOND_MS);
}

describe('200', () => {
  test('processed: a purchase makes a license, and the check shows its key', async () => {
    const { transactionId, once } = anyPurchase();
    assert.equal((await check(transactionId))['status'], 'pending');
    const event = paddleTransactionCompleted(once);
    const answer = await deliver(event);
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

  test('duplicate: the same event again changes nothing', async () => {
    const { once } = anyPurchase();
    const event = paddleTransactionCompleted(once);
    await deliver(event);
    const before = await service.count('licenses');
    const { body } = await deliver(event);
    assert.deepEqual(body, { status: 'duplicate', message: null, event_id: event.event_id });
    assert.equal(await service.count('licenses'), before);
  });

  test('ignored: an event of no consequence, one that nobody knows, and why', async () => {
    for (const event of [
      paddleTransaction('payment_failed', anyPurchase().once),
      paddleEvent('weather.changed', { id: 'w' }),
    ]) {
      const { status, message } = readBody((await deliver(event)).body);
      assert.equal(status, 'ignored');
      assert.ok(typeof message === 'string' && message.length > 10);
    }
  });

  test('ignored: a price that the catalogue does not name, until it does', async () => {
    const price = paddleId('pri');
    const { transactionId, once } = anyPurchase(price);
    const { status, message } = readBody((await deliver(paddleTransactionCompleted(once))).body);
    assert.deepEqual(
      [status, message],
      ['ignored', `No product of the catalogue has the price ${price}.`],
    );
    assert.equal((await check(transactionId))['status'], 'pending');
  });

  test('deferred: an event that is not what its type promises is kept', async () => {
    const eventId = paddleId('evt');
    const sound = paddleTransactionCompleted({ eventId });
    const event = { ...sound, data: { ...sound.data, items: 'nothing' } };
    assert.deepEqual((await deliver(event)).body, {
      status: 'deferred',
      message:
        'The event is kept; it is not what its type promises: The data of transaction.completed are wrong at data.items.',
      event_id: eventId,
    });
    const { rows } = await service.pool.query(
      'select status, raw from billing_events where event_id = $1',
      [eventId],
    );
    assert.deepEqual(rows, [{ status: 'failed', raw: JSON.stringify(event) }]);
    assert.equal(readBody((await deliver(event)).body)['status'], 'duplicate');
  });

  test('deferred: one that the database refuses is tried again, and its neighbours go on', async () => {
    const { pool, ctx } = service;
    await pool.query(`alter table billing_customers add constraint no_bob check (name <> 'Bob')`);
    const bad = paddleCustomer('created', { customerId: paddleId('ctm'), name: 'Bob' });
    const events = [bad, ...[1, 2, 3].map(() => paddleTransactionCompleted(anyPurchase().once))];
    const answers = await Promise.all(events.map(deliver));
    assert.deepEqual(
      answers.map(({ body }) => readBody(body)['status']),
      ['deferred', 'processed', 'processed', 'processed'],
    );
    const read = async () => {
      const { rows } = await pool.query<Record<string, unknown>>(
        'select status, attempts, next_attempt_at from billing_events where event_id = $1',
        [bad.event_id],
      );
      return rows[0];
    };
    assert.equal(await retryDueEvents(ctx, 10), 0);
    assert.deepEqual(await read(), {
      status: 'deferred',
      attempts: 1,
      next_attempt_at: minutesLater(1),
    });
    service.clock.set(minutesLater(1));
    assert.equal(await retryDueEvents(ctx, 10), 1);
    assert.deepEqual(await read(), {
      status: 'deferred',
      attempts: 2,
      next_attempt_at: minutesLater(3),
    });
    await pool.query('alter table billing_customers drop constraint no_bob');
    service.clock.set(minutesLater(3));
    assert.equal(await retryDueEvents(ctx, 10), 1);
    assert.deepEqual(await read(), { status: 'processed', attempts: 3, next_attempt_at: null });
    service.clock.set(TEST_START);
  });

  test('several lines: a license each, in the order of the lines', async () => {
    const { transactionId, once } = anyPurchase();
    const lines = [{ priceId: SELLERS }, { priceId: PERSONAL, quantity: 3 }];
    await deliver(paddleTransactionCompleted({ ...once, lines }));
    const { licenses } = await check(transactionId);
    assert.ok(Array.isArray(licenses));
    assert.deepEqual(
      licenses.map((license) => readBody(license)['product_type']),
      ['sellers', 'personal'],
    );
    const { rows } = await service.pool.query<{ max_activations: number }>(
      `select max_activations from licenses l join license_transactions t on t.license_id = l.id
       where transaction_id = $1 order by position`,
      [transactionId],
    );
    assert.deepEqual(
      rows.map((row) => row.max_activations),
      [10, 6],
    );
  });

  test('the buyer is known by the customer, whichever comes first', async () => {
    for (const customerFirst of [true, false]) {
      const { transactionId, customerId, once } = anyPurchase();
      const events = [
        paddleCustomer('created', { customerId, email: 'ann@example.com', name: 'Ann' }),
        paddleTransactionCompleted(once),
      ];
      await deliverAll(...(customerFirst ? events : events.toReversed()));
      const { rows } = await service.pool.query(
        `select customer_email, customer_name from licenses l
         join license_transactions t on t.license_id = l.id where transaction_id = $1`,
        [transactionId],
      );
      assert.deepEqual(rows, [{ customer_email: 'ann@example.com', customer_name: 'Ann' }]);
    }
  });

  test('a subscription that is canceled or paused never runs for ever', async () => {
    for (const [type, status] of [
      ['canceled', 'canceled'],
      ['paused', 'paused'],
    ] as const) {
      const { transactionId, monthly } = anyPurchase();
      await deliverAll(
        paddleTransactionCompleted({ ...monthly, subscriptionId: null }),
        paddleSubscription('created', monthly),
      );
      const paid = await check(transactionId);
      assert.deepEqual([paid['status'], paid['expires_at']], ['active', fromStart(31 * DAY_MS)]);
      const occurredAt = new Date(TEST_START.getTime() - HOUR_MS / 2);
      // It happened before the latest snapshot was told, so it does not count; an hour later it does.
      await deliver(paddleSubscription(type, { ...monthly, occurredAt }));
      assert.equal((await check(transactionId))['status'], 'active');
      const later = new Date(TEST_START.getTime() + HOUR_MS);
      await deliver(paddleSubscription(type, { ...monthly, occurredAt: later }));
      service.clock.set(new Date(TEST_START.getTime() + 2 * HOUR_MS));
      const ended = await check(transactionId);
      assert.deepEqual([ended['status'], ended['expires_at']], [status, fromStart(HOUR_MS)]);
      service.clock.set(TEST_START);
    }
  });

  test('a full refund ends the license and hides its key; one before the purchase too', async () => {
    for (const refundFirst of [true, false]) {
      const { transactionId, once } = anyPurchase();
      const events = [
        paddleTransactionCompleted(once),
        paddleAdjustment('created', { transactionId, adjustmentId: paddleId('adj') }),
      ];
      await deliverAll(...(refundFirst ? events.toReversed() : events));
      const { status, license_key: key } = await check(transactionId);
      assert.deepEqual([status, key], ['refunded', null]);
    }
  });

  test('a chargeback suspends, its reversal reinstates; what the operator suspended stays so', async () => {
    const { transactionId, once } = anyPurchase();
    const adjust = (action: string) =>
      paddleAdjustment('created', { transactionId, action, adjustmentId: paddleId('adj') });
    await deliverAll(paddleTransactionCompleted(once), adjust('chargeback'));
    assert.equal((await check(transactionId))['status'], 'suspended');
    await deliver(adjust('chargeback_reverse'));
    assert.equal((await check(transactionId))['status'], 'active');
    await service.pool.query(
      `update licenses set suspended_at = now() where id =
         (select license_id from license_transactions where transaction_id = $1)`,
      [transactionId],
    );
    await deliverAll(adjust('chargeback'), adjust('chargeback_reverse'));
    assert.equal((await check(transactionId))['status'], 'suspended');
  });

  test('the key is shown for 24 hours', async () => {
    const { transactionId, once } = anyPurchase();
    await deliver(paddleTransactionCompleted(once));
    service.clock.set(new Date(TEST_START.getTime() + 24 * HOUR_MS));
    assert.equal((await check(transactionId))['license_key'], null);
    service.clock.set(TEST_START);
  });

  test('each event is counted by what became of it', async () => {
    const metrics = await service.ctx.metrics.render();
    for (const status of ['processed', 'duplicate', 'ignored', 'deferred']) {
      assert.match(
        metrics,
        new RegExp(`webhook_events_total\\{provider="paddle",status="${status}"\\} [1-9]`),
      );
    }
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
    test(`${what}, before anything is read`, async () => {
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

  test('a good signature of another time has a code of its own', async () => {
    for (const seconds of [-31, 31]) {
      const at = new Date(TEST_START.getTime() + seconds * SECOND_MS);
      const answer = await service.post(PATH, event, { 'billing-signature': sign(secret, at) });
      assert.deepEqual([answer.status, answer.body], [401, problem('stale_signature')]);
    }
  });

  test('each is counted by its reason', async () => {
    const metrics = await service.ctx.metrics.render();
    for (const reason of ['missing', 'malformed', 'mismatch', 'stale']) {
      const line = `refusals_total\\{operation="webhook_paddle",reason="signature_${reason}"\\} [1-9]`;
      assert.match(metrics, new RegExp(line));
    }
  });
});

describe('404', () => {
  test('a provider that nobody knows', async () => {
    for (const provider of ['paddle2', 'paypal', 'x'.repeat(200)]) {
      const answer = await service.post(`/api/v1/webhooks/${provider}`, {});
      assert.deepEqual([answer.status, answer.body], [404, problem('unknown_provider')]);
    }
  });
});

describe('405', () => {
  test('GET is told that POST is served here', async () => {
    const answer = await service.get(PATH);
    assert.deepEqual([answer.status, answer.body], [405, problem('method_not_allowed')]);
  });
});

describe('413', () => {
  test('a body of 1 MiB is looked at, one byte more is not', async () => {
    const longest = 'x'.repeat(MAX_BODY_BYTES);
    assert.equal((await service.post(PATH, longest)).status, 401);
    const answer = await service.post(PATH, `${longest}x`);
    assert.deepEqual([answer.status, answer.body], [413, problem('payload_too_large')]);
  });
});

describe('415', () => {
  test('another media type, once the signature is found right', async () => {
    const answer = await sendSigned('a=b', { 'content-type': 'application/x-www-form-urlencoded' });
    assert.deepEqual([answer.status, answer.body], [415, problem('unsupported_media_type')]);
  });
});

describe('422', () => {
  for (const [body, ...fault] of [
    ['', 'body', 'missing'],
    ['null', 'body', 'missing'],
    ['[]', 'body', 'dict_type'],
    ['{"a": }', 'body.6', 'json_invalid'],
    ['{}', 'body', 'value_error'],
    ['{"event_id": 5, "event_type": "x"}', 'body', 'value_error'],
    [`{"event_id": "${'x'.repeat(201)}", "event_type": "x"}`, 'body', 'value_error'],
  ] as const) {
    test(`well signed and no event: ${body.slice(0, 40)}`, async () => {
      const answer = await sendSigned(body);
      assert.equal(answer.status, 422, answer.text);
      assert.deepEqual(faultsOf(answer.body), [fault]);
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
  test('each is verified by its own scheme, at its own path', async () => {
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
