import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fastSpringOrder } from '../../../../test/payment-providers/fastspring-events.ts';
import { creemCheckout } from '../../../../test/payment-providers/creem-events.ts';
import { dodoPayment } from '../../../../test/payment-providers/dodo-events.ts';
import { lemonSqueezyOrder } from '../../../../test/payment-providers/lemon-squeezy-events.ts';
import { paddleTransactionCompleted } from '../../../../test/payment-providers/paddle-events.ts';
import { polarOrder } from '../../../../test/payment-providers/polar-events.ts';
import { standardEvent } from '../../../../test/payment-providers/standard-webhooks-events.ts';
import { stripeCheckoutCompleted } from '../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../test/test-clock.ts';
import { MalformedEventError } from './adapter.ts';
import { findAdapter } from './adapters.ts';

/** The header of a malformed event. */
function readMalformed(provider: string, body: object): unknown {
  const rawBody = Buffer.from(JSON.stringify(body));
  const delivery = { headers: { 'webhook-id': 'msg_1' }, rawBody };
  const adapter = findAdapter(provider);
  assert.ok(adapter !== undefined);
  try {
    return adapter.normalize(JSON.parse(rawBody.toString()), delivery);
  } catch (error) {
    assert.ok(error instanceof MalformedEventError, String(error));
    return [error.header.type, error.header.occurredAt];
  }
}

const paddle = paddleTransactionCompleted({ occurredAt: TEST_START });
const stripe = stripeCheckoutCompleted();
const order = lemonSqueezyOrder('order_created');
const noIdentifier = lemonSqueezyOrder('order_created', { attributes: { identifier: undefined } });
const noTime = lemonSqueezyOrder('order_created', {
  attributes: { updated_at: 'x', created_at: null },
});
const fastSpring = fastSpringOrder();
const ping = {
  event_id: 'sale:a==:0',
  resource_name: 'sale',
  received_at: TEST_START.toISOString(),
};
const lookedUp = { ...ping, resource_name: 'sale.looked_up' };
const standard = standardEvent('payment.refunded', {});
const polar = polarOrder('order.paid');
const dodo = dodoPayment('payment.succeeded');
const creem = creemCheckout();

for (const [provider, why, body, header] of [
  ['paddle', 'data', { ...paddle, data: [] }, ['transaction.completed', TEST_START]],
  ['paddle', 'time', { ...paddle, occurred_at: 'x' }, ['transaction.completed', null]],
  ['paddle', 'type', { ...paddle, event_type: 'a\0' }, [null, TEST_START]],
  ['standard', 'data', standard, ['payment.refunded', TEST_START]],
  ['standard', 'time', { ...standard, timestamp: 'x' }, ['payment.refunded', null]],
  ['standard', 'type', { ...standard, type: 7 }, [null, TEST_START]],
  ['lemonsqueezy', 'data', noIdentifier, ['order_created', TEST_START]],
  ['lemonsqueezy', 'time', noTime, ['order_created', null]],
  ['lemonsqueezy', 'type', { ...order, meta: {} }, [null, TEST_START]],
  ['fastspring', 'data', { ...fastSpring, data: {} }, ['order.completed', TEST_START]],
  ['fastspring', 'time', { ...fastSpring, created: 1.5 }, ['order.completed', null]],
  ['fastspring', 'type', { ...fastSpring, type: 7 }, [null, TEST_START]],
  ['gumroad', 'data', lookedUp, ['sale.looked_up', TEST_START]],
  ['gumroad', 'time', { ...ping, received_at: 'x' }, ['sale', null]],
  ['gumroad', 'type', { ...ping, resource_name: 7 }, [null, TEST_START]],
  ['stripe', 'data', { ...stripe, data: {} }, [stripe.type, TEST_START]],
  ['stripe', 'time', { ...stripe, created: -1 }, [stripe.type, null]],
  ['stripe', 'type', { ...stripe, type: '' }, [null, TEST_START]],
  ['polar', 'data', { ...polar, data: {} }, ['order.paid', TEST_START]],
  ['polar', 'time', { ...polar, timestamp: 'x' }, ['order.paid', null]],
  ['polar', 'type', { ...polar, type: 7 }, [null, TEST_START]],
  ['dodo', 'data', { ...dodo, data: { payment_id: 7.5 } }, ['payment.succeeded', TEST_START]],
  ['dodo', 'time', { ...dodo, timestamp: null }, ['payment.succeeded', null]],
  ['dodo', 'type', { ...dodo, type: {} }, [null, TEST_START]],
  ['creem', 'data', { ...creem, object: {} }, ['checkout.completed', TEST_START]],
  ['creem', 'time', { ...creem, created_at: -1 }, ['checkout.completed', null]],
  ['creem', 'type', { ...creem, eventType: null }, [null, TEST_START]],
] as const) {
  test(`${provider}: reports the readable part of a header with an invalid ${why}`, () => {
    assert.deepEqual(readMalformed(provider, body), header);
  });
}
