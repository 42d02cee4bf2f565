/** Deliveries with several events: each is stored by itself, and FastSpring repeats only those that were not. */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { beforeEach, describe, test } from 'node:test';

import { compareText } from '#server/features/billing/rules/compare-facts.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import {
  fastSpringAccount,
  fastSpringDelivery,
  fastSpringOrder,
} from '../payment-providers/fastspring-events.ts';
import { testCatalog } from '../test-catalog.ts';
import { readBody, validationErrorsOf } from './bodies.ts';

const PATH = '/api/v1/webhooks/fastspring';

const CATALOG = `
key_prefix: LK
trial: { product: personal, features: [] }
products:
  - id: personal
    name: Personal
    tier: personal
    max_activations: 2
    prices: { fastspring: [personal] }
`;

const service = await startTestService({ catalog: testCatalog(CATALOG) });
const [secret = ''] = TEST_WEBHOOK_SECRETS.fastspring;

function deliver(...events: readonly unknown[]): Promise<Answer> {
  const { body, headers } = fastSpringDelivery(events, { secret });
  return service.post(PATH, body, headers);
}

const order = (number: number) =>
  fastSpringOrder({ eventId: `fsev_${number}`, orderId: `fsord_${number}` });

async function listStored(): Promise<(readonly [unknown, unknown])[]> {
  const { rows } = await service.pool.query(
    'select event_id, status from billing_events order by received_at, event_id',
  );
  return rows.map(({ event_id: id, status }) => [id, status]);
}

async function listStatuses(): Promise<string[]> {
  return (await listStored()).map(([, status]) => String(status)).sort(compareText);
}

async function checkStatus(transactionId: string): Promise<unknown> {
  const answer = await service.get(`/api/v1/licenses/check/${transactionId}`);
  return readBody(answer.body)['status'];
}

beforeEach(async () => {
  await service.pool.query(
    'truncate billing_events, billing_payments, billing_subscriptions, billing_adjustments, billing_aliases, billing_licenses, license_transactions',
  );
});

describe('200', () => {
  test('one event is answered like that of another provider', async () => {
    const answer = await deliver(order(1));
    assert.deepEqual(
      [answer.status, answer.body],
      [200, { status: 'processed', message: null, event_id: 'fsev_1' }],
    );
    assert.equal(await checkStatus('fsord_1'), 'active');
  });

  test('several events are stored and applied by their own ids', async () => {
    const failed = { ...fastSpringAccount('created', { eventId: 'fsev_3' }), type: 'order.failed' };
    const answer = await deliver(order(1), order(2), failed);
    const message = 'An order counts only once it is completed.';
    assert.deepEqual(
      [answer.status, answer.body],
      [
        200,
        {
          status: 'processed',
          message: null,
          event_id: null,
          events: [
            { status: 'processed', message: null, event_id: 'fsev_1' },
            { status: 'processed', message: null, event_id: 'fsev_2' },
            { status: 'ignored', message, event_id: 'fsev_3' },
          ],
        },
      ],
    );
    assert.deepEqual(await listStored(), [
      ['fsev_1', 'processed'],
      ['fsev_2', 'processed'],
      ['fsev_3', 'ignored'],
    ]);
    assert.deepEqual(
      [await checkStatus('fsord_1'), await checkStatus('fsord_2')],
      ['active', 'active'],
    );
  });

  test('an automatic repetition is a duplicate; a manual one, under a new id, creates no second license', async () => {
    await deliver(order(1), order(2));
    const again = await deliver(order(1), order(2));
    assert.equal(readBody(again.body)['status'], 'duplicate');
    await deliver({ ...order(1), id: 'fsev_again' });
    const { rows } = await service.pool.query(
      'select transaction_id from billing_licenses order by transaction_id',
    );
    assert.deepEqual(rows, [{ transaction_id: 'fsord_1' }, { transaction_id: 'fsord_2' }]);
  });

  test('an event that lacks an id of its type does not hold up the others', async () => {
    const odd = fastSpringOrder({ eventId: 'fsev_odd', data: { id: null, order: null } });
    const answer = await deliver(odd, order(1));
    assert.equal(answer.status, 200);
    assert.deepEqual(await listStored(), [
      ['fsev_1', 'processed'],
      ['fsev_odd', 'failed'],
    ]);
  });

  test('a delivery without events is accepted', async () => {
    const answer = await deliver();
    assert.equal(answer.status, 200);
    assert.equal(readBody(answer.body)['message'], 'The delivery contains no events.');
  });
});

describe('202', () => {
  test('lists the stored events, one in each line, if others cannot be read', async () => {
    const answer = await deliver(order(1), 'no event', { ...order(3), id: null }, order(2));
    assert.deepEqual([answer.status, answer.text], [202, 'fsev_1\nfsev_2']);
    assert.match(answer.headers.get('content-type') ?? '', /^text\/plain/u);
    const statuses = await listStatuses();
    assert.deepEqual(statuses, ['failed', 'failed', 'processed', 'processed']);
    assert.equal(await checkStatus('fsord_2'), 'active');
    const line = service.log.find((each) => each.includes('payments.delivery_incomplete'));
    const { received, failed } = JSON.parse(line ?? '{}');
    assert.deepEqual([received, failed], [2, 2]);
  });

  test('takes at most 200 events at once', async () => {
    const events = Array.from({ length: 203 }, (_, number) =>
      fastSpringAccount('updated', { eventId: `fsev_many_${number}` }),
    );
    const answer = await deliver(...events);
    assert.equal(answer.status, 202);
    assert.deepEqual(
      answer.text.split('\n'),
      events.slice(0, 200).map(({ id }) => id),
    );
    const rest = await deliver(...events.slice(200));
    assert.equal(rest.status, 200);
    assert.equal(await service.count('billing_events'), 203);
  });
});

describe('a failure', () => {
  test('422 if no event can be read; it is stored', async () => {
    const answer = await deliver({ ...order(1), id: '' });
    assert.deepEqual(
      [answer.status, validationErrorsOf(answer.body)],
      [422, [['body', 'value_error']]],
    );
    assert.deepEqual(await listStatuses(), ['failed']);
  });

  test('422 if the body has no list of events; it is stored', async () => {
    const body = JSON.stringify({ events: { id: 'fsev_1' } });
    const signature = createHmac('sha256', secret).update(body).digest('base64');
    const answer = await service.post(PATH, body, { 'x-fs-signature': signature });
    assert.equal(answer.status, 422);
    assert.match(answer.text, /the body is not a list of events/u);
    assert.deepEqual(await listStatuses(), ['failed']);
  });

  test('401 for the signature of another delivery; nothing is stored', async () => {
    const { headers } = fastSpringDelivery([order(1)], { secret });
    const answer = await service.post(PATH, JSON.stringify({ events: [order(2)] }), headers);
    assert.equal(answer.status, 401);
    assert.deepEqual(await listStatuses(), []);
  });
});
