import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  fastSpringAccount,
  fastSpringOrder,
} from '../../../../test/payment-providers/fastspring-events.ts';
import { creemCheckout } from '../../../../test/payment-providers/creem-events.ts';
import { dodoPayment } from '../../../../test/payment-providers/dodo-events.ts';
import { gumroadSale } from '../../../../test/payment-providers/gumroad-sales.ts';
import { lemonSqueezyOrder } from '../../../../test/payment-providers/lemon-squeezy-events.ts';
import {
  paddleCustomer,
  paddleTransactionCompleted,
} from '../../../../test/payment-providers/paddle-events.ts';
import { polarCustomer, polarOrder } from '../../../../test/payment-providers/polar-events.ts';
import { standardEvent } from '../../../../test/payment-providers/standard-webhooks-events.ts';
import {
  stripeCheckoutCompleted,
  stripeCustomer,
  stripeInvoicePaid,
} from '../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../test/test-clock.ts';
import type { BillingProvider } from '../facts.ts';
import { findAdapter } from './adapters.ts';

/** Events with an address, by provider. */
const EVENTS_WITH_ADDRESS: readonly (readonly [
  BillingProvider,
  string,
  (email: string) => unknown,
])[] = [
  ['paddle', 'a customer', (email) => paddleCustomer('updated', { email })],
  ['paddle', 'custom data', (email) => paddleTransactionCompleted({ customData: { email } })],
  ['stripe', 'a customer', (email) => stripeCustomer('updated', { email })],
  ['stripe', 'a checkout', (email) => stripeCheckoutCompleted({ email })],
  ['stripe', 'an invoice', (email) => stripeInvoicePaid({ email })],
  ['lemonsqueezy', 'an order', (email) => lemonSqueezyOrder('order_created', { email })],
  ['fastspring', 'an order', (email) => fastSpringOrder({ email })],
  ['fastspring', 'an account', (email) => fastSpringAccount('updated', { email })],
  ['polar', 'an order', (email) => polarOrder('order.paid', { email })],
  ['polar', 'a customer', (email) => polarCustomer('customer.updated', email)],
  ['dodo', 'a payment', (email) => dodoPayment('payment.succeeded', { email })],
  ['creem', 'a checkout', (email) => creemCheckout({ email })],
  [
    'gumroad',
    'a sale',
    (email) => ({
      event_id: 'sale:a==:0',
      resource_name: 'sale.looked_up',
      received_at: TEST_START.toISOString(),
      sale: gumroadSale({ purchase_email: email, email: null }),
    }),
  ],
  [
    'standard',
    'a customer',
    (email) => standardEvent('customer.updated', { id: 'customer-ann', email }),
  ],
];

const NO_ADDRESS = [
  'ann@example.org, eve@evil.example',
  'ann@example.org;eve@evil.example',
  'Eve <eve@evil.example>',
  '"ann@example.org, eve"@evil.example',
  'ann@example.org\r\nBcc: eve@evil.example',
  'ann@example.org\0',
  'ann',
  '',
];

for (const [provider, what, createEvent] of EVENTS_WITH_ADDRESS) {
  test(`${provider}, ${what}: reads exactly one address`, () => {
    assert.deepEqual(readEmails(provider, createEvent(' Jürgen@Example.ORG ')), [
      'Jürgen@example.org',
    ]);
    for (const email of NO_ADDRESS) {
      assert.deepEqual(readEmails(provider, createEvent(email)), [null], JSON.stringify(email));
    }
  });
}

function readEmails(provider: BillingProvider, event: unknown): (string | null)[] {
  const rawBody = Buffer.from(JSON.stringify(event));
  const headers = { 'webhook-id': 'msg_1' };
  const facts = findAdapter(provider)?.normalize(event, { headers, rawBody }).facts ?? [];
  const emails = facts.flatMap((fact) => ('customer' in fact ? [fact.customer.email] : []));
  return [...new Set(emails)];
}
