/** Gumroad's answer decides whether a sale is one of the test mode: anyone who knows the address can send a ping with a mark. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  GUMROAD_PRODUCT,
  GUMROAD_SELLER,
  gumroadMembershipPing,
  gumroadMembershipSale,
  gumroadPing,
  gumroadSale,
  gumroadSubscriber,
  startGumroadApiStub,
} from '../../../test/payment-providers/gumroad-sales.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { createTestClock, TEST_START } from '../../../test/test-clock.ts';
import { deleteTestData } from './delete-test-data.ts';
import { createGumroadApi } from './providers/gumroad/gumroad-api.ts';

const CATALOG = testCatalog(`
key_prefix: LK
trial: { product: studio, features: [] }
products:
  - { id: studio, name: Studio, tier: studio, max_activations: 2, prices: { gumroad: ['${GUMROAD_PRODUCT}', '${GUMROAD_PRODUCT}:Pro'] } }
`);
const TOKEN = 'the access token of the tests';
const [SECRET = ''] = TEST_WEBHOOK_SECRETS.gumroad;

const gumroad = await startGumroadApiStub(TOKEN);
const clock = createTestClock();
const gumroadApi = createGumroadApi({ url: gumroad.url, accessToken: TOKEN, clock });
const service = await startTestService({ clock, catalog: CATALOG, gumroadApi });
const { context, pool } = service;

beforeEach(async () => {
  clock.set(TEST_START);
  gumroad.sales = [];
  gumroad.subscribers = [];
  await pool.query(
    'truncate jobs, billing_events, billing_payments, billing_subscriptions, billing_adjustments, billing_licenses, license_transactions, billing_sales',
  );
});

/** Sends a ping, and waits until the service has asked Gumroad. */
async function ping(fields: Record<string, string>): Promise<void> {
  const answer = await service.send('POST', `/api/v1/webhooks/gumroad/${SECRET}`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  });
  assert.equal(answer.status, 200);
  await runDueJobs(context);
}

async function listSources(): Promise<unknown[]> {
  const { rows } = await pool.query('select provider from billing_licenses order by provider');
  return rows.map(({ provider }) => provider);
}

async function readStatus(saleId: unknown): Promise<unknown> {
  const { body } = await service.get(
    `/api/v1/licenses/check/${encodeURIComponent(String(saleId))}`,
  );
  assert.ok(typeof body === 'object' && body !== null && 'status' in body);
  return body.status;
}

test('a sale to the account of the seller is of the test mode, whatever the ping says', async () => {
  gumroad.sales = [gumroadSale({ purchaser_id: GUMROAD_SELLER })];
  await ping(gumroadPing('sale'));
  assert.deepEqual(await listSources(), ['gumroad:test']);
});

test('a sale to another account is real, whatever the ping says', async () => {
  gumroad.sales = [gumroadSale()];
  await ping(gumroadPing('sale', gumroadSale(), { test: 'true' }));
  assert.deepEqual(await listSources(), ['gumroad']);
  await deleteTestData(context, { actor: 'test', reason: 'tried' });
  assert.equal(await readStatus(gumroadSale()['id']), 'active');
});

test('a guest who typed the address of the seller has a real sale', async () => {
  const { purchaser_id: _, ...guest } = gumroadSale({ email: 'seller@example.com' });
  gumroad.sales = [guest];
  await ping(gumroadPing('sale', guest, { test: 'true' }));
  assert.deepEqual(await listSources(), ['gumroad']);
});

test('the end of a membership counts for its real sale, whatever the ping says', async () => {
  const sale = gumroadMembershipSale();
  const buyer = { user_id: sale['purchaser_id'] };
  gumroad.sales = [sale];
  gumroad.subscribers = [gumroadSubscriber(buyer)];
  await ping(gumroadPing('sale', sale));
  clock.advance(1_000);
  const at = clock.now().toISOString();
  gumroad.subscribers = [
    gumroadSubscriber({ ...buyer, status: 'cancelled', cancelled_at: at, ended_at: at }),
  ];
  await ping(gumroadMembershipPing('subscription_ended', { ended_at: at, test: 'true' }));
  assert.deepEqual([await listSources(), await readStatus(sale['id'])], [['gumroad'], 'canceled']);
});

test('a sale waits until Gumroad names the owner of the account', async () => {
  const seller = gumroad.seller;
  gumroad.sales = [gumroadSale()];
  gumroad.seller = {};
  clock.advance(2 * 3_600_000);
  await ping(gumroadPing('sale'));
  assert.deepEqual(await listSources(), []);
  gumroad.seller = seller;
  await ping({ ...gumroadPing('sale'), retry_count: '1' });
  assert.deepEqual(await listSources(), ['gumroad']);
});
