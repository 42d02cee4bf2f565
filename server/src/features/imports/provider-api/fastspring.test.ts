import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerFastSpring } from '../../../../test/payment-providers/api-stand-ins.ts';
import { fastSpringSubscription } from '../../../../test/payment-providers/fastspring-events.ts';
import { readFastSpring } from './fastspring.ts';
import { AUTHORIZATION, day, openReader, readAll } from './test-reader.fixture.ts';

function subscriptionOf(id: string, state: string, data: Readonly<Record<string, unknown>> = {}) {
  const options = { subscriptionId: id, state, next: day(20), at: day(-3), data };
  const event = fastSpringSubscription('updated', { ...options, isExpanded: false });
  return { ...event.data, account: `acc_${id}`, id };
}

test('reads all pages of ids, and the subscriptions and accounts of the ids', async () => {
  const accounts = ['sub_1', 'sub_2', 'sub_4', 'sub_5', 'sub_6'].map((id) => ({
    id: `acc_${id}`,
    account: `acc_${id}`,
    contact: { first: 'Ann', last: 'Example', email: `${id}@example.com` },
    language: 'de',
  }));
  const subscriptions = [
    subscriptionOf('sub_1', 'active'),
    subscriptionOf('sub_2', 'overdue', { next: day(-2).getTime() }),
    subscriptionOf('sub_3', 'deactivated'),
    subscriptionOf('sub_4', 'trial'),
    subscriptionOf('sub_5', 'paused'),
    subscriptionOf('sub_6', 'active', { live: false }),
  ];
  const api = openReader(
    answerFastSpring({ authorization: AUTHORIZATION, subscriptions, accounts }),
  );
  const all = await readAll(readFastSpring(api));
  assert.deepEqual(
    all.map(({ id, customer, subscription, isTest }) => [
      id,
      customer.email,
      subscription?.snapshot.status,
      subscription?.snapshot.period?.endsAt ?? null,
      subscription?.paidUntil,
      isTest,
    ]),
    [
      ['sub_1', 'sub_1@example.com', 'active', day(20), null, false],
      ['sub_2', 'sub_2@example.com', 'past_due', null, day(-2), false],
      ['sub_4', 'sub_4@example.com', 'trialing', day(20), null, false],
      ['sub_5', 'sub_5@example.com', 'paused', null, day(-3), false],
      ['sub_6', 'sub_6@example.com', 'active', day(20), null, true],
    ],
  );
  assert.equal(all[0]?.customer.name, 'Ann Example');
});
