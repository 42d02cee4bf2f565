/** Payments as facts for operators: what events report, repairs, and revenue. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { openStandardShop } from '../payment-providers/standard-shop.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
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
