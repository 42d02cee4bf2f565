import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerPolar } from '../../../../test/payment-providers/api-stand-ins.ts';
import { polarSubscription } from '../../../../test/payment-providers/polar-events.ts';
import { readPolar } from './polar.ts';
import { AUTHORIZATION, day, openReader, readAll } from './test-reader.fixture.ts';

function subscriptionOf(
  id: string,
  customer: string,
  more: Readonly<Record<string, unknown>> = {},
) {
  const { data } = polarSubscription('subscription.updated', {
    subscriptionId: id,
    productId: 'product-1',
    startsAt: day(-10),
    endsAt: day(20),
  });
  const product = { id: 'product-1', benefits: [{ id: 'benefit-1', type: 'license_keys' }] };
  const owner = { id: customer, email: `${customer}@example.com`, name: null };
  const started = { started_at: day(-70).toISOString(), trial_end: null };
  return { ...data, ...started, product, customer: owner, customer_id: customer, id, ...more };
}

function keyOf(id: string, customer: string, more: Readonly<Record<string, unknown>> = {}) {
  return {
    id,
    customer_id: customer,
    customer: { id: customer, email: `${customer}@example.com`, name: 'Ann' },
    benefit_id: 'benefit-1',
    key: `STUDIO-80E15DB5-C796-436B-850C-8F9C98A48AB${id}`,
    status: 'granted',
    limit_activations: null,
    usage: 0,
    expires_at: null,
    ...more,
  };
}

const lists = {
  subscriptions: [
    subscriptionOf('s1', 'ann'),
    subscriptionOf('s2', 'bob', { status: 'past_due' }),
    subscriptionOf('s3', 'cid', { status: 'canceled', ended_at: day(-1).toISOString() }),
  ],
  'license-keys': [
    keyOf('1', 'ann', { limit_activations: 3 }),
    keyOf('2', 'cid', { status: 'revoked' }),
    keyOf('3', 'dan', { benefit_id: 'benefit-2' }),
    keyOf('4', 'eve', { benefit_id: 'benefit-3', status: 'disabled' }),
  ],
  products: [
    { id: 'product-1', benefits: [{ id: 'benefit-1' }, { id: 'benefit-3' }] },
    { id: 'product-2', benefits: [{ id: 'benefit-2' }] },
    { id: 'product-3', benefits: [{ id: 'benefit-3' }] },
  ],
};

const activations = {
  '1': [{ id: 'a1', label: 'ann-laptop', meta: {}, created_at: '2026-01-02T00:00:00Z' }],
};

test('reads keys with their machines and subscriptions, then subscriptions without a key', async () => {
  const api = openReader(answerPolar({ authorization: AUTHORIZATION, lists, activations }));
  const all = await readAll(readPolar(api));
  assert.deepEqual(
    all.map(({ id, key, subscription, customer }) => [
      id,
      key?.priceId ?? null,
      key?.state ?? null,
      subscription?.snapshot.subscriptionId ?? null,
      subscription?.paidUntil ?? null,
      customer.email,
    ]),
    [
      ['1', 'product-1', 'valid', 's1', null, 'ann@example.com'],
      ['2', 'product-1', 'revoked', null, null, 'cid@example.com'],
      ['3', 'product-2', 'valid', null, null, 'dan@example.com'],
      ['4', null, 'suspended', null, null, 'eve@example.com'],
      ['s2', null, null, 's2', day(-10), 'bob@example.com'],
    ],
  );
  assert.deepEqual(all[0]?.key?.machines, [
    { instanceId: 'a1', name: 'ann-laptop', activatedAt: new Date('2026-01-02T00:00:00Z') },
  ]);
});
