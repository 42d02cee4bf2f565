/** Payments as facts for operators: what events report, repairs, and revenue. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { openStandardShop } from '../payment-providers/standard-shop.ts';
import { standardDelivery, standardEvent } from '../payment-providers/standard-webhooks-events.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
import { DAY_MS } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const TEST_SECRET = `whsec_${Buffer.from('the secret of a test shop, 1').toString('base64')}`;
const [STANDARD_SECRET = ''] = TEST_WEBHOOK_SECRETS.standard;

const service = await startTestService({
  catalog: testCatalog(
    CATALOG.replace('stripe: [price_personal]', 'standard: [personal]').replace(
      'stripe: [price_sellers]',
      'standard: [sellers]',
    ),
  ),
  webhooks: { standard: [STANDARD_SECRET, `test:${TEST_SECRET}`] },
});
const shop = openStandardShop(service);
const viewer = await openBrowser(service, 'viewer');

const EVENTS = '/api/v1/admin/payment-events';

type Fields = Readonly<Record<string, unknown>>;

/** Sends a purchase of Ann, and returns its event. */
async function sell(id: string, priceId: string, more: Fields = {}): Promise<Fields> {
  await shop.send('purchase.completed', {
    transaction_id: id,
    customer: { id: `c-${id}`, email: `${id}@example.com`, name: 'Ann Example' },
    lines: [{ price_id: priceId, total: 5_900 }],
    total: 5_900,
    tax: 942,
    currency: 'EUR',
    country: 'DE',
    ...more,
  });
  return newest();
}

async function newest(): Promise<Fields> {
  const { body } = await viewer.get(`${EVENTS}?limit=1`);
  const items = readBody(body)['items'];
  assert.ok(Array.isArray(items));
  return readBody(items[0]);
}

/** Picks what an event reports. */
function reportedOf(event: Fields): Fields {
  const names = [
    'kind',
    'customer_name',
    'customer_email',
    'products',
    'amount',
    'amount_text',
    'tax',
    'currency',
    'decimals',
    'country',
    'reported',
  ];
  return Object.fromEntries(names.map((name) => [name, event[name]]));
}

const PERSONAL = [{ product_id: 'personal', name: 'Personal', price_id: 'personal' }];

describe('an event', () => {
  test('reports kind, customer, product and amount, in the list and alone', async () => {
    const bought = await sell('bought', 'personal');
    const expected = {
      kind: 'purchase',
      customer_name: 'Ann Example',
      customer_email: 'bought@example.com',
      products: PERSONAL,
      amount: 5_900,
      amount_text: '59.00',
      tax: 942,
      currency: 'EUR',
      decimals: 2,
      country: 'DE',
      reported: null,
    };
    assert.deepEqual(reportedOf(bought), expected);
    const shown = await viewer.get(`${EVENTS}/standard/${String(bought['event_id'])}`);
    assert.deepEqual(reportedOf(readBody(shown.body)), expected);
  });

  test('about a refund names the customer, the product and the country of its payment', async () => {
    await sell('refunded', 'personal', { currency: 'JPY' });
    await shop.send('payment.refunded', {
      refund_id: 'r-1',
      transaction_id: 'refunded',
      total: 900,
    });
    assert.deepEqual(reportedOf(await newest()), {
      kind: 'refund',
      customer_name: 'Ann Example',
      customer_email: 'refunded@example.com',
      products: PERSONAL,
      amount: 900,
      amount_text: '900',
      tax: null,
      currency: 'JPY',
      decimals: 0,
      country: 'DE',
      reported: null,
    });
  });

  test('names a product as it was sold, and a price that is none', async () => {
    const open = await sell('open', 'retired');
    assert.deepEqual(open['products'], [{ product_id: null, name: null, price_id: 'retired' }]);
  });

  test('without a stored fact reports its kind only', async () => {
    await shop.send('customer.updated', { id: 'c-bought', email: 'new@example.com' });
    const { kind, ...others } = reportedOf(await newest());
    assert.equal(kind, 'customer');
    assert.deepEqual(others['products'], []);
    assert.equal(others['customer_email'], null);
  });
});

describe('the payments of a customer', () => {
  const ANN = { id: 'c-ann', email: 'Ann.Buyer@example.com', name: 'Ann Example' };
  const PAYMENTS = '/api/v1/admin/customer/payments?email=ann.buyer%40example.com';

  async function list(): Promise<Fields> {
    const answer = await viewer.get(PAYMENTS);
    assert.equal(answer.status, 200, answer.text);
    return readBody(answer.body);
  }

  test('are empty for an unknown address', async () => {
    assert.deepEqual(await list(), { payments: [], totals: [], is_complete: true });
  });

  test('are purchases and refunds with totals of each currency, without test modes', async () => {
    await sell('ann-1', 'personal', { customer: ANN });
    await sell('ann-2', 'sellers', {
      customer: ANN,
      lines: [{ price_id: 'sellers', total: 1_000 }],
      total: 1_000,
      tax: 0,
      currency: 'JPY',
    });
    service.clock.advance(DAY_MS);
    const refund = { refund_id: 'r-ann', transaction_id: 'ann-1', total: 900 };
    await shop.send('payment.refunded', refund);
    const tested = standardDelivery(
      standardEvent('purchase.completed', {
        transaction_id: 'ann-test',
        customer: ANN,
        lines: [{ price_id: 'personal' }],
        total: 7_000,
        currency: 'EUR',
      }),
      { secret: TEST_SECRET, id: 'msg_test', at: service.clock.now() },
    );
    await service.post('/api/v1/webhooks/standard', tested.body, tested.headers);
    const { payments, totals } = await list();
    assert.ok(Array.isArray(payments));
    assert.deepEqual(
      payments
        .map(readBody)
        .map(({ kind, provider, amount_text: amount, currency, transaction_id: id }) =>
          [kind, provider, amount, currency, id].join(' '),
        )
        .sort(),
      [
        'purchase standard 1000 JPY ann-2',
        'purchase standard 59.00 EUR ann-1',
        'purchase standard:test 70.00 EUR ann-test',
        'refund standard 9.00 EUR ann-1',
      ],
    );
    assert.deepEqual(readBody(payments[0])['kind'], 'refund');
    // Of the refund 942 * 900 / 5900 = 144 is tax: 5900 - 942 - (900 - 144) = 4202.
    assert.deepEqual(totals, [
      {
        currency: 'EUR',
        decimals: 2,
        payments: 1,
        gross: 5_900,
        tax: 942,
        refunds: 900,
        disputes: 0,
        net: 4_202,
      },
      {
        currency: 'JPY',
        decimals: 0,
        payments: 1,
        gross: 1_000,
        tax: 0,
        refunds: 0,
        disputes: 0,
        net: 1_000,
      },
    ]);
  });

  test('need a session', async () => {
    assert.equal((await service.get(PAYMENTS)).status, 401);
  });
});
