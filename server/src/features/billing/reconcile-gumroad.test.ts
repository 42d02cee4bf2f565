/** Sales whose pings were lost are found in Gumroad's list of sales. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  GUMROAD_PRODUCT,
  gumroadMembershipSale,
  gumroadPing,
  gumroadSale,
  gumroadSubscriber,
  startGumroadApiStub,
} from '../../../test/payment-providers/gumroad-sales.ts';
import { answerJson } from '../../../test/payment-providers/paddle-api-stub.ts';
import { runDueJobs } from '../../../test/run-due-jobs.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { createTestClock, DAY_MS, HOUR_MS, TEST_START } from '../../../test/test-clock.ts';
import { countBacklog } from '../health/count-backlog.ts';
import { createGumroadApi } from './providers/gumroad/gumroad-api.ts';
import { reconcileGumroad } from './reconcile-gumroad.ts';
import { runReconciliation } from './run-reconciliation.ts';

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
const BY_OPERATOR = { actor: 'anna', since: TEST_START };

beforeEach(async () => {
  clock.set(TEST_START);
  gumroad.sales = [];
  gumroad.subscribers = [];
  gumroad.failure = null;
  await pool.query(
    'truncate jobs, billing_events, billing_payments, billing_subscriptions, billing_adjustments, billing_licenses, license_transactions, billing_sales, billing_reconciliations',
  );
});

function saleOf(number: number, fields: Readonly<Record<string, unknown>> = {}) {
  return gumroadSale({ id: `sale-${number}==`, ...fields });
}

async function ping(sale: Readonly<Record<string, unknown>>): Promise<void> {
  await service.send('POST', `/api/v1/webhooks/gumroad/${SECRET}`, {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(gumroadPing('sale', sale)).toString(),
  });
  await runDueJobs(context);
}

async function listStatuses(): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select transaction_id as id, l.refunded_at is not null as refunded, l.disputed_at is not null as disputed
     from billing_licenses join licenses l on l.id = license_id order by 1`,
  );
  return rows.map(({ id, refunded, disputed }) => [id, refunded, disputed]);
}

const compareByTask = () => reconcileGumroad(context, { actor: 'latchkey' });

async function compare(): Promise<unknown[]> {
  const { compared, repaired, failure } = await runReconciliation(context, BY_OPERATOR);
  return [compared, repaired.length, failure];
}

test('books the sales whose pings were lost, once, and leaves the others', async () => {
  const sales = Array.from({ length: 12 }, (_, index) => saleOf(index));
  gumroad.sales = sales;
  await ping(sales[0] ?? {});
  clock.advance(2 * HOUR_MS);
  assert.deepEqual(await compare(), [12, 11, null]);
  assert.equal((await listStatuses()).length, 12);
  const { rows } = await pool.query(
    `select actor, subject_id, details from audit_log where action = 'webhook.reconcile' order by sequence desc limit 1`,
  );
  assert.deepEqual(rows, [{ actor: 'anna', subject_id: 'gumroad', details: { repaired: 11 } }]);
  assert.deepEqual(await compare(), [12, 0, null]);
  assert.equal((await listStatuses()).length, 12);
});

test('finds refunds and disputes of booked sales', async () => {
  gumroad.sales = [saleOf(1), saleOf(2), saleOf(3), saleOf(4)];
  for (const sale of gumroad.sales) await ping(sale);
  clock.advance(2 * HOUR_MS);
  gumroad.sales = [
    saleOf(1, { refunded: true }),
    saleOf(2, { disputed: true, chargedback: true }),
    saleOf(3, { partially_refunded: true }),
    saleOf(4),
  ];
  assert.deepEqual(await compare(), [4, 3, null]);
  assert.deepEqual(await listStatuses(), [
    ['sale-1==', true, false],
    ['sale-2==', false, true],
    ['sale-3==', false, false],
    ['sale-4==', false, false],
  ]);
  clock.advance(HOUR_MS);
  gumroad.sales = gumroad.sales.with(1, saleOf(2, { disputed: true, dispute_won: true }));
  assert.deepEqual(await compare(), [4, 1, null]);
  assert.deepEqual((await listStatuses())[1], ['sale-2==', false, false]);
  assert.deepEqual(await compare(), [4, 0, null]);
});

test('books a membership with its state', async () => {
  gumroad.sales = [gumroadMembershipSale()];
  gumroad.subscribers = [gumroadSubscriber()];
  clock.advance(2 * HOUR_MS);
  assert.deepEqual(await compare(), [1, 2, null]);
  assert.deepEqual(await compare(), [1, 0, null]);
});

test('leaves sales of the last hour to their pings', async () => {
  gumroad.sales = [saleOf(1)];
  assert.deepEqual(await compare(), [1, 0, null]);
  assert.deepEqual(await listStatuses(), []);
});

test('leaves gifts to their recipients, and preorders that were not paid', async () => {
  gumroad.sales = [
    saleOf(1, { is_gift_sender_purchase: true }),
    saleOf(2, { is_preorder_authorization: true }),
  ];
  clock.advance(2 * HOUR_MS);
  assert.deepEqual(await compare(), [2, 0, null]);
  assert.equal(await service.count('billing_events'), 0);
});

test('every hour continues a day before the last comparison, from the first ping', async () => {
  assert.equal(await compareByTask(), null);
  await ping(saleOf(0));
  const lost = saleOf(1, { created_at: TEST_START.toISOString() });
  gumroad.sales = [saleOf(0), lost];
  await ping(saleOf(0));
  clock.advance(2 * HOUR_MS);
  assert.equal((await compareByTask())?.repaired.length, 1);
  clock.advance(3 * DAY_MS);
  await compareByTask();
  clock.advance(HOUR_MS);
  assert.equal((await compareByTask())?.compared, 0);
});

test('a failure is recorded, and reported until Gumroad can be read again', async () => {
  const isFailing = async () =>
    (await countBacklog({ ...context, paddleApi: null })).isReconciliationFailing;
  await ping(saleOf(0));
  gumroad.failure = answerJson(403, '{}');
  await assert.rejects(reconcileGumroad(context, { actor: 'latchkey' }), /Gumroad answers 403/u);
  assert.equal(await isFailing(), true);
  const [, , failure] = await compare();
  assert.match(String(failure), /^Cannot read Gumroad's list of sales: Gumroad answers 403\./u);
  gumroad.failure = null;
  await reconcileGumroad(context, { actor: 'latchkey' });
  assert.equal(await isFailing(), false);
});
