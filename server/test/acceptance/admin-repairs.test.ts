/** Each repair of a payment over HTTP. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { openStandardShop } from '../payment-providers/standard-shop.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
import { DAY_MS } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const service = await startTestService({
  catalog: testCatalog(CATALOG.replace('stripe: [price_personal]', 'standard: [personal]')),
});
const shop = openStandardShop(service);
const admin = await openBrowser(service);
const support = await openBrowser(service, 'support');

const EVENTS = '/api/v1/admin/payment-events';
const reason = 'from the old shop';

type Fields = Readonly<Record<string, unknown>>;

/** Sends an event, and returns its path. */
async function send(type: string, data: Fields): Promise<string> {
  await shop.send(type, data);
  const { body } = await admin.get(`${EVENTS}?limit=1`);
  const items = readBody(body)['items'];
  assert.ok(Array.isArray(items));
  return `${EVENTS}/standard/${String(readBody(items[0])['event_id'])}`;
}

function sell(id: string, priceIds: readonly string[]): Promise<string> {
  return send('purchase.completed', {
    transaction_id: id,
    customer: { id: `c-${id}`, email: `${id}@example.com` },
    lines: priceIds.map((priceId) => ({ price_id: priceId })),
    total: 4_900,
    currency: 'EUR',
  });
}

/** Repairs a payment, and returns the state and the licenses of the answer. */
async function repair(path: string, body: Fields) {
  const answer = await admin.post(`${path}/repair`, { ...body, reason });
  assert.equal(answer.status, 200, answer.text);
  const { state, licenses } = readBody(answer.body);
  assert.ok(Array.isArray(licenses));
  return { state, licenses: licenses.map(readBody) };
}

const soldOf = (licenses: readonly Fields[]) =>
  licenses.map(({ product, customer_email: email }) => [product, email]);

describe('a repair', () => {
  test('of a price creates the license of this purchase, or of all', async () => {
    const one = await sell('one', ['retired']);
    const other = await sell('other', ['retired']);
    const price = { kind: 'price', product: 'sellers' };
    const { state, licenses } = await repair(one, price);
    assert.deepEqual([state, soldOf(licenses)], ['applied', [['sellers', 'one@example.com']]]);
    assert.equal(readBody((await admin.get(other)).body)['state'], 'unmatched');
    await repair(other, { ...price, for_all: true });
    const later = readBody((await admin.get(await sell('later', ['retired']))).body);
    assert.deepEqual([later['state'], later['message']], ['applied', null]);
  });

  test('issues what a payment sold without a line', async () => {
    const path = await sell('nothing', []);
    const issue = { kind: 'issue', product: 'personal', quantity: 2 };
    const { state, licenses } = await repair(path, issue);
    assert.deepEqual([state, soldOf(licenses)], ['applied', [['personal', 'nothing@example.com']]]);
    const { products } = readBody((await admin.get(path)).body);
    assert.deepEqual(products, [{ product_id: 'personal', name: 'Personal', price_id: null }]);
  });

  test('names the license of a subscription', async () => {
    const issued = await admin.post('/api/v1/admin/licenses/batch', {
      product: 'personal',
      customer_email: 'link@example.com',
      count: 1,
    });
    const items = readBody(issued.body)['items'];
    assert.ok(Array.isArray(items), issued.text);
    const { license_id: id } = readBody(items[0]);
    const start = service.clock.now();
    const path = await send('purchase.renewed', {
      transaction_id: 'renewed',
      subscription_id: 'sub-linked',
      customer: { id: 'c-link', email: 'link@example.com' },
      lines: [{ price_id: 'personal', cycle: { interval: 'month' } }],
      period: {
        starts_at: start.toISOString(),
        ends_at: new Date(start.getTime() + 30 * DAY_MS).toISOString(),
      },
      total: 4_900,
    });
    const { licenses } = await repair(path, { kind: 'subscription', license_id: id });
    assert.deepEqual(
      licenses.map((license) => license['license_id']),
      [id],
    );
  });

  test('of an address sends the keys there', async () => {
    const path = await sell('typo', ['personal']);
    const { licenses } = await repair(path, { kind: 'address', email: 'right@example.com' });
    assert.deepEqual(soldOf(licenses), [['personal', 'right@example.com']]);
  });

  test('needs an administrator, an event and a product of the catalogue', async () => {
    const path = await sell('refused', ['retired-too']);
    const body = { kind: 'price', product: 'personal', reason };
    assert.equal((await support.post(`${path}/repair`, body)).status, 403);
    assert.equal((await service.post(`${path}/repair`, body)).status, 401);
    assert.equal((await admin.post(`${EVENTS}/standard/none/repair`, body)).status, 404);
    const unknown = await admin.post(`${path}/repair`, { ...body, product: 'unknown' });
    assert.equal(unknown.status, 404, unknown.text);
    assert.equal(readBody((await admin.get(path)).body)['state'], 'unmatched');
  });
});
