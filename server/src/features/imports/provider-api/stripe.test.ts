import assert from 'node:assert/strict';
import { test } from 'node:test';

import { answerStripe } from '../../../../test/payment-providers/api-stand-ins.ts';
import type { StubAnswer } from '../../../../test/payment-providers/paddle-api-stub.ts';
import { stripeSubscription } from '../../../../test/payment-providers/stripe-events.ts';
import type { ProviderRecord } from './records.ts';
import { readStripe } from './stripe.ts';
import { AUTHORIZATION, day, openReader, readAll } from './test-reader.fixture.ts';

function seconds(time: Date): number {
  return time.getTime() / 1_000;
}

/** What a record says about a subscription. */
function summarize({ id, customer, subscription, isTest }: ProviderRecord) {
  const { status, lines, period } = subscription?.snapshot ?? {};
  return {
    id,
    email: customer.email,
    status,
    prices: lines?.map(({ priceId, quantity }) => `${quantity} × ${priceId}`),
    until: period?.endsAt ?? subscription?.paidUntil ?? null,
    isTest,
  };
}

const customers = [
  { id: 'cus_ann', object: 'customer', email: 'ann@example.com', name: 'Ann Example' },
  { id: 'cus_bob', object: 'customer', email: null, name: null },
];

function subscriptionOf(
  id: string,
  object: Readonly<Record<string, unknown>> = {},
  more: Parameters<typeof stripeSubscription>[1] = {},
) {
  const created = seconds(day(-90));
  const usual = { livemode: true, created, start_date: created, trial_end: null };
  const event = stripeSubscription('updated', {
    subscriptionId: id,
    period: { startsAt: day(-10), endsAt: day(20) },
    object: { ...usual, ...object },
    ...more,
  });
  return { ...event.data.object, id };
}

const answer = (subscriptions: ReturnType<typeof subscriptionOf>[]): StubAnswer =>
  answerStripe({
    authorization: AUTHORIZATION,
    subscriptions,
    customers,
    invoices: [
      { id: 'in_paid', object: 'invoice', status: 'paid' },
      { id: 'in_open', object: 'invoice', status: 'open' },
    ],
  });

test('reads all pages, with the address of the customer, in both forms of periods', async () => {
  const lines = [{ priceId: 'price_sellers', quantity: 5 }];
  const api = openReader(
    answer([
      subscriptionOf('sub_1'),
      subscriptionOf('sub_2', {}, { apiVersion: 'acacia', lines }),
      subscriptionOf('sub_3', { customer: 'cus_bob', livemode: false }),
      subscriptionOf('sub_4', { status: 'canceled' }),
      subscriptionOf('sub_5', { status: 'trialing', trial_end: seconds(day(20)) }),
    ]),
  );
  const all = await readAll(readStripe(api));
  const monthly = ['1 × price_monthly'];
  const ann = { email: 'ann@example.com', until: day(20), isTest: false };
  assert.deepEqual(all.map(summarize), [
    { id: 'sub_1', ...ann, status: 'active', prices: monthly },
    { id: 'sub_2', ...ann, status: 'active', prices: ['5 × price_sellers'] },
    { ...ann, id: 'sub_3', status: 'active', prices: monthly, email: null, isTest: true },
    { id: 'sub_5', ...ann, status: 'trialing', prices: monthly },
  ]);
});

test('reads until when a subscription was paid that is not paid now', async () => {
  const sent = { collection_method: 'send_invoice' };
  const api = openReader(
    answer([
      subscriptionOf('sub_due', { status: 'past_due' }),
      subscriptionOf('sub_unpaid', { status: 'unpaid' }),
      subscriptionOf('sub_first', { status: 'incomplete', created: seconds(day(-10)) }),
      subscriptionOf('sub_trial', { status: 'past_due', trial_end: seconds(day(-10)) }),
      subscriptionOf('sub_paid_invoice', { ...sent, latest_invoice: 'in_paid' }),
      subscriptionOf('sub_open_invoice', { ...sent, latest_invoice: 'in_open' }),
    ]),
  );
  const all = await readAll(readStripe(api));
  assert.deepEqual(
    all.map(({ id, subscription }) => [id, subscription?.paidUntil]),
    [
      ['sub_due', day(-10)],
      ['sub_unpaid', day(-10)],
      ['sub_first', null],
      ['sub_trial', null],
      ['sub_paid_invoice', day(20)],
      ['sub_open_invoice', day(-10)],
    ],
  );
});
