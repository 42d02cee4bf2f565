import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerPaddle } from '../../../../test/payment-providers/api-stand-ins.ts';
import { paddleSubscription } from '../../../../test/payment-providers/paddle-events.ts';
import { readPaddle } from './paddle.ts';
import { AUTHORIZATION, day, openReader, readAll } from './test-reader.fixture.ts';

const period = { startsAt: day(-10), endsAt: day(20) };
const customers = [{ id: 'ctm_ann', email: 'ann@example.com', name: 'Ann', locale: 'de' }];

function subscriptionOf(
  id: string,
  type: Parameters<typeof paddleSubscription>[0],
  more: Readonly<Record<string, unknown>> = {},
) {
  const options = { subscriptionId: id, customerId: 'ctm_ann', period };
  const { data } = paddleSubscription(type, { ...options, occurredAt: day(-3) });
  const firstBilledAt = day(-70).toISOString();
  return { ...data, first_billed_at: firstBilledAt, id, ...more };
}

test('reads all pages of running subscriptions, with their customers', async () => {
  const api = openReader(
    answerPaddle({
      authorization: AUTHORIZATION,
      customers,
      subscriptions: [
        subscriptionOf('sub_1', 'updated'),
        subscriptionOf('sub_2', 'past_due'),
        subscriptionOf('sub_3', 'paused', { current_billing_period: null }),
        subscriptionOf('sub_4', 'canceled'),
        subscriptionOf('sub_5', 'trialing'),
        subscriptionOf('sub_6', 'past_due', { first_billed_at: null }),
        subscriptionOf('sub_7', 'updated', { customer_id: 'ctm_gone' }),
      ],
    }),
  );
  const all = await readAll(readPaddle(api));
  assert.deepEqual(
    all.map(({ id, customer, subscription }) => [
      id,
      customer.email,
      subscription?.snapshot.status,
      subscription?.paidUntil,
    ]),
    [
      ['sub_1', 'ann@example.com', 'active', null],
      ['sub_2', 'ann@example.com', 'past_due', day(-10)],
      ['sub_3', 'ann@example.com', 'paused', day(-3)],
      ['sub_5', 'ann@example.com', 'trialing', null],
      ['sub_6', 'ann@example.com', 'past_due', null],
      ['sub_7', null, 'active', null],
    ],
  );
});
