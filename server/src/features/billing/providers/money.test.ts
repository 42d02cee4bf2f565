import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  lemonSqueezyInvoice,
  lemonSqueezyOrder,
} from '../../../../test/payment-providers/lemon-squeezy-events.ts';
import {
  paddleAdjustment,
  paddleTransactionCompleted,
} from '../../../../test/payment-providers/paddle-events.ts';
import { standardEvent } from '../../../../test/payment-providers/standard-webhooks-events.ts';
import {
  stripeCheckoutCompleted,
  stripeDispute,
  stripeInvoicePaid,
  stripeRefund,
} from '../../../../test/payment-providers/stripe-events.ts';
import { groupPurchases } from '../rules/group-purchases.ts';
import type { BillingFact, BillingProvider } from '../facts.ts';
import { findAdapter } from './adapters.ts';

type Patch = Readonly<Record<string, unknown>>;

/** Translates an event whose object has further fields. */
function read(provider: BillingProvider, event: object, patch: Patch = {}): readonly BillingFact[] {
  const body: unknown = JSON.parse(JSON.stringify(event), (_key, value: unknown) => {
    const isObject = typeof value === 'object' && value !== null;
    return isObject && OBJECT_FIELDS.some((field) => field in value)
      ? { ...value, ...patch }
      : value;
  });
  const headers = { 'webhook-id': 'event' };
  const found = findAdapter(provider)?.normalize(body, { headers, rawBody: Buffer.from('') });
  return found?.facts ?? [];
}

/** Fields that only the object of an event has. */
const OBJECT_FIELDS = ['billing_reason', 'amount_total', 'origin', 'identifier', 'user_email'];

/** Picks what a payment or refund says about money. */
function moneyOf(facts: readonly BillingFact[]): Patch {
  const fact = facts.find(({ kind }) => kind === 'payment' || kind === 'adjustment');
  assert.ok(fact !== undefined && 'total' in fact);
  const { total, currency, tax } = fact;
  const { country, fee } = { country: undefined, fee: undefined, ...fact };
  return Object.fromEntries(
    Object.entries({ total, currency, tax, country, fee }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

describe('Paddle', () => {
  test('a transaction reports tax, fee, and its country if the address was requested with it', () => {
    const event = paddleTransactionCompleted();
    const money = { total: 2_900, currency: 'USD', tax: 483 };
    assert.deepEqual(moneyOf(read('paddle', event)), money);
    const totals = { total: '2900', grand_total: '2900', tax: '483', fee: '195' };
    const patch = { details: { totals }, address: { country_code: 'de' } };
    assert.deepEqual(moneyOf(read('paddle', event, patch)), { ...money, country: 'DE', fee: 195 });
  });

  test('credit reduces the tax of a transaction with its total', () => {
    const details = { totals: { total: '12000', grand_total: '3000', tax: '2000' } };
    assert.deepEqual(moneyOf(read('paddle', paddleTransactionCompleted(), { details })), {
      total: 3_000,
      currency: 'USD',
      tax: 500,
    });
  });

  test('a refund reports its currency and tax', () => {
    assert.deepEqual(moneyOf(read('paddle', paddleAdjustment('created'))), {
      total: 2_900,
      currency: 'USD',
      tax: 483,
    });
  });
});

describe('Stripe', () => {
  test('a checkout reports tax and country', () => {
    const patch = {
      total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 160 },
      customer_details: { email: 'ann@example.com', address: { country: 'FR' } },
    };
    assert.deepEqual(moneyOf(read('stripe', stripeCheckoutCompleted(), patch)), {
      total: 1_000,
      currency: 'EUR',
      tax: 160,
      country: 'FR',
    });
  });

  test('an invoice reports its taxes in both forms, and the country of the customer', () => {
    const customer = { customer_address: { country: 'GB' } };
    const expected = { total: 1_000, currency: 'EUR', tax: 167, country: 'GB' };
    const forms = [
      { tax: 167 },
      { total_tax_amounts: [{ amount: 100 }, { amount: 67 }] },
      { total_taxes: [{ amount: 167, tax_behavior: 'inclusive' }] },
    ];
    for (const taxes of forms) {
      const facts = read('stripe', stripeInvoicePaid(), { ...customer, ...taxes });
      assert.deepEqual(moneyOf(facts), expected);
    }
  });

  test('a line of an invoice costs its amount after discounts, with taxes that are added', () => {
    const event = stripeInvoicePaid();
    const [line] = [{ price: 'price_monthly', amount: 1_000, type: 'subscription' }];
    const period = { start: 1_800_000_000, end: 1_802_592_000 };
    const taxes = [
      { amount: 180, tax_behavior: 'exclusive' },
      { amount: 50, tax_behavior: 'inclusive' },
    ];
    const data = [{ id: 'il_1', ...line, period, taxes, discount_amounts: [{ amount: 100 }] }];
    const [fact] = read('stripe', event, { lines: { data } });
    assert.ok(fact?.kind === 'payment');
    assert.equal(fact.lines[0]?.total, 1_080);
  });

  test('refunds and disputes report their currency', () => {
    assert.equal(moneyOf(read('stripe', stripeRefund('created')))['currency'], 'EUR');
    assert.equal(moneyOf(read('stripe', stripeDispute('created')))['currency'], 'EUR');
  });
});

describe('Lemon Squeezy', () => {
  test('orders and invoices report tax, refunds their currency', () => {
    const expected = { total: 1_000, currency: 'EUR', tax: 160 };
    const order = lemonSqueezyOrder('order_created');
    assert.deepEqual(moneyOf(read('lemonsqueezy', order, { tax: 160 })), expected);
    const invoice = lemonSqueezyInvoice('subscription_payment_success');
    assert.deepEqual(moneyOf(read('lemonsqueezy', invoice, { tax: 160 })), expected);
    const refund = lemonSqueezyOrder('order_refunded', { refunded: 400 });
    assert.deepEqual(moneyOf(read('lemonsqueezy', refund)), { total: 400, currency: 'EUR' });
  });
});

describe('the own shop', () => {
  test('payments report tax, fee and country, refunds currency and tax', () => {
    const money = { total: 4_900, currency: 'eur', tax: 782 };
    const payment = standardEvent('purchase.completed', {
      transaction_id: 'order-1',
      ...money,
      fee: 150,
      country: 'at',
    });
    assert.deepEqual(moneyOf(read('standard', payment)), {
      ...money,
      currency: 'EUR',
      fee: 150,
      country: 'AT',
    });
    const refund = standardEvent('payment.refunded', {
      refund_id: 'refund-1',
      transaction_id: 'order-1',
      ...money,
    });
    assert.deepEqual(moneyOf(read('standard', refund)), { ...money, currency: 'EUR' });
  });
});

test('a later version of a payment keeps what only an earlier one reports about money', () => {
  const occurredAt = new Date('2027-03-01T12:00:00.000Z');
  const [checkout] = read('stripe', stripeCheckoutCompleted({ at: occurredAt }), {
    customer_details: { address: { country: 'FR' } },
  });
  assert.ok(checkout?.kind === 'payment');
  const { currency: _currency, country: _country, ...later } = checkout;
  const [purchase] = groupPurchases([
    { provider: 'stripe', eventId: 'evt_1', fact: checkout },
    {
      provider: 'stripe',
      eventId: 'evt_2',
      fact: { ...later, occurredAt: new Date(occurredAt.getTime() + 1_000) },
    },
  ]);
  const [payment] = purchase?.facts.payments ?? [];
  assert.deepEqual([payment?.currency, payment?.country], ['EUR', 'FR']);
});
