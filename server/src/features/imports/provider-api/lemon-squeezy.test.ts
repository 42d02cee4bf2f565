import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  answerLemonSqueezy,
  type LemonSqueezyResource,
} from '../../../../test/payment-providers/api-stand-ins.ts';
import { lemonSqueezySubscription } from '../../../../test/payment-providers/lemon-squeezy-events.ts';
import { readLemonSqueezy } from './lemon-squeezy.ts';
import { AUTHORIZATION, day, openReader, readAll } from './test-reader.fixture.ts';

const resource = (type: string, id: string, attributes: object): LemonSqueezyResource => ({
  type,
  id,
  attributes: { ...attributes },
});

function subscriptionOf(id: number, status: string, more: object = {}): LemonSqueezyResource {
  const options = { subscriptionId: id, orderId: id, status, variantId: 17 };
  const attributes = { test_mode: false, ...more };
  const event = lemonSqueezySubscription('subscription_updated', {
    ...options,
    renewsAt: day(20),
    attributes,
  });
  return event.data;
}

function keyOf(id: string, orderId: number, more: object = {}): LemonSqueezyResource {
  return resource('license-keys', id, {
    store_id: 2,
    customer_id: 3,
    order_id: orderId,
    order_item_id: orderId * 10,
    product_id: 4,
    user_name: 'Ann Example',
    user_email: 'ann@example.com',
    key: `38B1460A-5104-4067-A91D-77B872934D5${id}`,
    key_short: 'XXXX-77B872934D5',
    activation_limit: 3,
    instances_count: 0,
    disabled: 0,
    status: 'active',
    expires_at: null,
    created_at: '2026-01-01T00:00:00.000000Z',
    updated_at: '2026-02-01T00:00:00.000000Z',
    test_mode: false,
    ...more,
  });
}

const instances = [
  resource('license-key-instances', '1', {
    license_key_id: 1,
    identifier: 'f90ec370-fd83-46a5-8bbd-44a241e78665',
    name: 'ann-laptop',
    created_at: '2026-01-02T00:00:00.000000Z',
  }),
];

const lists = {
  subscriptions: [
    subscriptionOf(1, 'active'),
    subscriptionOf(2, 'expired', { ends_at: '2026-03-01T00:00:00.000000Z' }),
    subscriptionOf(3, 'active', { user_email: 'bob@example.com' }),
    subscriptionOf(4, 'past_due'),
    subscriptionOf(6, 'active', { test_mode: true }),
  ],
  'subscription-invoices': [
    [1, -62, 'paid'],
    [2, -32, 'paid'],
    [3, -1, 'pending'],
  ].map(([id, days, status]) =>
    resource('subscription-invoices', String(id), {
      subscription_id: 4,
      status,
      created_at: day(Number(days)).toISOString(),
    }),
  ),
  'license-keys': [
    keyOf('1', 1),
    keyOf('2', 2, { status: 'expired' }),
    keyOf('5', 5, { activation_limit: null, disabled: 1 }),
    keyOf('7', 7),
  ],
  'license-key-instances': instances,
};
const included = [1, 2, 5, 7].flatMap((id) => [
  resource('order-items', String(id * 10), { variant_id: id < 5 ? 17 : 99, order_id: id }),
  resource('orders', String(id), { refunded: id === 7 }),
]);

test('reads keys with their machines and subscriptions, then subscriptions without a key', async () => {
  const api = openReader(answerLemonSqueezy({ authorization: AUTHORIZATION, lists, included }));
  const all = await readAll(readLemonSqueezy(api));
  assert.deepEqual(
    all.map(({ id, key: found, subscription, customer, isTest }) => [
      id,
      found?.priceId ?? null,
      found?.state ?? null,
      found?.maxActivations ?? null,
      subscription?.snapshot.subscriptionId ?? null,
      customer.email,
      isTest,
    ]),
    [
      ['1', '17', 'valid', 3, '1', 'ann@example.com', false],
      ['2', '17', 'valid', 3, null, 'ann@example.com', false],
      ['5', 'once:99', 'suspended', null, null, 'ann@example.com', false],
      ['7', 'once:99', 'refunded', 3, null, 'ann@example.com', false],
      ['3', null, null, null, '3', 'bob@example.com', false],
      ['4', null, null, null, '4', 'ann@example.com', false],
      ['6', null, null, null, '6', 'ann@example.com', true],
    ],
  );
  assert.deepEqual(all[0]?.key?.machines, [
    {
      instanceId: 'f90ec370-fd83-46a5-8bbd-44a241e78665',
      name: 'ann-laptop',
      activatedAt: new Date('2026-01-02T00:00:00Z'),
    },
  ]);
  assert.equal(all[0].key.transactionId, 'order:1');
  assert.deepEqual(all[0].key.productIds, ['17', '4']);
  assert.equal(all[0].key.details['variant_id'], '17');
  assert.deepEqual(all[1]?.key?.expiresAt, new Date('2026-03-01T00:00:00Z'));
  assert.deepEqual(all[5]?.subscription?.paidUntil, day(-1));
});
