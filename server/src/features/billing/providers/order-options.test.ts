import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  creemCheckout,
  creemSubscription,
} from '../../../../test/payment-providers/creem-events.ts';
import { dodoPayment, dodoSubscription } from '../../../../test/payment-providers/dodo-events.ts';
import {
  fastSpringOrder,
  fastSpringSubscription,
} from '../../../../test/payment-providers/fastspring-events.ts';
import { polarOrder, polarSubscription } from '../../../../test/payment-providers/polar-events.ts';
import { stripeCheckoutCompleted } from '../../../../test/payment-providers/stripe-events.ts';
import { findAdapter } from './adapters.ts';

const OPTIONS = { license_id: '0199f0a4-0000-7000-8000-000000000001', gift_to: 'eve@example.com' };
const object = { metadata: OPTIONS };

for (const [provider, event] of [
  ['polar', polarOrder('order.paid', { object })],
  ['polar', polarSubscription('subscription.active', { object })],
  ['dodo', dodoPayment('payment.succeeded', { object })],
  ['dodo', dodoSubscription('subscription.active', { object })],
  ['creem', creemCheckout({ object })],
  ['creem', creemCheckout({ isRecurring: true, object })],
  ['creem', creemSubscription('subscription.active', { object })],
  ['fastspring', fastSpringOrder({ data: { tags: OPTIONS } })],
  ['fastspring', fastSpringSubscription('activated', { data: { tags: OPTIONS } })],
] as const) {
  const type = 'type' in event ? event.type : event.eventType;
  test(`${provider}, ${type}: reads the renewed license and the recipient from the custom data`, () => {
    const delivery = { headers: { 'webhook-id': 'msg_1' }, rawBody: Buffer.alloc(0) };
    const fact = findAdapter(provider)?.normalize(event, delivery).facts[0];
    assert.ok(fact?.kind === 'payment' || fact?.kind === 'subscription');
    assert.deepEqual(
      [fact.renews, fact.recipient],
      [OPTIONS.license_id, { email: OPTIONS.gift_to, name: null }],
    );
  });
}

describe('a link can name the license where it cannot contain metadata', () => {
  const id = OPTIONS.license_id;
  for (const [provider, field, toEvent] of [
    [
      'stripe',
      'client_reference_id',
      (value: string) => stripeCheckoutCompleted({ object: { client_reference_id: value } }),
    ],
    [
      'polar',
      'metadata.reference_id',
      (value: string) =>
        polarOrder('order.paid', { object: { metadata: { reference_id: value } } }),
    ],
  ] as const) {
    test(`${provider}: ${field} is a license id if it has the form of one`, () => {
      const renews = [id, 'user-42'].map((value) => {
        const delivery = { headers: { 'webhook-id': 'msg_1' }, rawBody: Buffer.alloc(0) };
        const fact = findAdapter(provider)?.normalize(toEvent(value), delivery).facts[0];
        assert.ok(fact?.kind === 'payment');
        return fact.renews;
      });
      assert.deepEqual(renews, [id, undefined]);
    });
  }
});
