import assert from 'node:assert/strict';
import { test } from 'node:test';

import { creemCheckout } from '../../../../test/payment-providers/creem-events.ts';
import { lemonSqueezyOrder } from '../../../../test/payment-providers/lemon-squeezy-events.ts';
import { polarOrder } from '../../../../test/payment-providers/polar-events.ts';
import { stripeCheckoutCompleted } from '../../../../test/payment-providers/stripe-events.ts';
import { findAdapter } from './adapters.ts';

/** Returns what the event of an order with a status reports; a status of undefined is missing. */
const orders: Readonly<Record<string, (status: string | undefined) => object>> = {
  polar: (status) => polarOrder('order.paid', { object: { status } }),
  lemonsqueezy: (status) => lemonSqueezyOrder('order_created', { attributes: { status } }),
  creem: (status) => creemCheckout({ object: { order: { id: 'ord_1', status } } }),
  stripe: (status) => stripeCheckoutCompleted({ object: { payment_status: status } }),
};

for (const [provider, createOrder] of Object.entries(orders)) {
  test(`an order at ${provider} without a known status grants nothing and needs attention`, () => {
    for (const status of [undefined, 'settled']) {
      const rawBody = Buffer.from(JSON.stringify(createOrder(status)));
      const delivery = { headers: { 'webhook-id': 'msg_1' }, rawBody };
      const read = findAdapter(provider)?.normalize(JSON.parse(rawBody.toString()), delivery);
      assert.deepEqual(read?.facts, []);
      assert.match(
        read?.ignoredBecause ?? '',
        /^Needs attention: the order has an unknown status/u,
      );
    }
  });
}
