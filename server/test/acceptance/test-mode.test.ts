/** Events of a provider's test mode are marked, kept apart from real ones, counted nowhere, and can be deleted. */
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { countUnappliedEvents } from '#server/features/billing/queries/events.ts';
import { countUnmatchedEvents } from '#server/features/billing/queries/operator-events.ts';
import { LICENSE_TABLES } from '#server/features/billing/queries/test-data.ts';
import { countLicensesByStatus } from '#server/features/licenses/queries/license-counts.ts';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import {
  lemonSqueezyDelivery,
  lemonSqueezyOrder,
} from '../payment-providers/lemon-squeezy-events.ts';
import {
  standardDelivery,
  standardEvent,
  standardPurchase,
} from '../payment-providers/standard-webhooks-events.ts';
import { stripeCheckoutCompleted, stripeDelivery } from '../payment-providers/stripe-events.ts';
import { testCatalog } from '../test-catalog.ts';
import { readBody } from './bodies.ts';

const CATALOG = `
key_prefix: LK
trial: { product: solo, features: [] }
products:
  - id: solo
    name: Solo
    tier: solo
    max_activations: 2
    prices: { stripe: [price_personal], lemonsqueezy: ['once:17'], standard: [solo] }
`;

const TEST_SECRET = `whsec_${Buffer.from('the secret of a test shop, 1').toString('base64')}`;
const [STANDARD_SECRET = ''] = TEST_WEBHOOK_SECRETS.standard;

const service = await startTestService({
  catalog: testCatalog(CATALOG),
  webhooks: { standard: [STANDARD_SECRET, `test:${TEST_SECRET}`] },
});
const { clock, pool } = service;
const admin = await openBrowser(service);

const PURCHASE = standardPurchase('ord_1', ['solo']);

function deliver(
  path: string,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
) {
  return service.post(`/api/v1/webhooks/${path}`, body, headers);
}

function deliverStandard(secret: string, event: object = PURCHASE, id = 'msg_1') {
  return deliver('standard', standardDelivery(event, { secret, id, at: clock.now() }));
}

/** Activates the license of a checkout, as the seller does to try it. */
async function activate(transactionId: string): Promise<void> {
  const checked = readBody((await service.get(`/api/v1/licenses/check/${transactionId}`)).body);
  const activated = await service.post('/api/v1/licenses/activate', {
    license_key: checked['license_key'],
    machine_fingerprint: { machine_id: 'a-test-machine-of-the-seller' },
  });
  assert.equal(activated.status, 200, activated.text);
}

async function listLicenses(): Promise<unknown[]> {
  const { rows } = await pool.query(
    `select billed.provider, billed.transaction_id, l.is_test from licenses l
     join billing_licenses billed on billed.license_id = l.id order by 1`,
  );
  return rows.map((row) => Object.values(readBody(row)));
}

beforeEach(async () => {
  await admin.post('/api/v1/admin/payment-events/delete-test-data', { reason: 'next test' });
  await pool.query(
    'truncate billing_events, billing_payments, billing_aliases, billing_licenses, billing_customers, license_transactions, licenses',
  );
});

test('a provider marks its test events, and their licenses work as others do', async () => {
  const stripe = { ...stripeCheckoutCompleted(), livemode: false };
  const [stripeSecret = ''] = TEST_WEBHOOK_SECRETS.stripe;
  const order = lemonSqueezyOrder('order_created', { variantId: 17 });
  const lemon = { ...order, meta: { ...order.meta, test_mode: true } };
  const [secret = ''] = TEST_WEBHOOK_SECRETS.lemonsqueezy;
  await deliver('stripe', stripeDelivery(stripe, { secret: stripeSecret, at: clock.now() }));
  await deliver('lemonsqueezy', lemonSqueezyDelivery(lemon, { secret }));
  assert.deepEqual(await listLicenses(), [
    ['lemonsqueezy:test', order.data.attributes['identifier'], true],
    ['stripe:test', 'pi_ann', true],
  ]);
  await activate('cs_test_ann');
});

test('a secret with test: signs test events of a provider that does not mark them', async () => {
  const answer = await deliverStandard(TEST_SECRET);
  assert.deepEqual([answer.status, readBody(answer.body)['status']], [200, 'processed']);
  assert.deepEqual(await listLicenses(), [['standard:test', 'ord_1', true]]);
  assert.equal((await deliverStandard(`${STANDARD_SECRET.slice(0, -4)}AAAA`)).status, 401);
});

test('a test event under the ids of a real one is a separate purchase of a separate customer', async () => {
  await deliverStandard(STANDARD_SECRET);
  const other = standardPurchase('ord_1', ['solo']);
  const { data } = other;
  await deliverStandard(TEST_SECRET, {
    ...other,
    data: { ...data, customer: { id: 'customer-ann', email: 'test@example.com' } },
  });
  assert.deepEqual(await listLicenses(), [
    ['standard', 'ord_1', false],
    ['standard:test', 'ord_1', true],
  ]);
  const { rows } = await pool.query(
    'select customer_email, is_test from licenses order by is_test',
  );
  assert.deepEqual(rows, [
    { customer_email: 'ann@example.com', is_test: false },
    { customer_email: 'test@example.com', is_test: true },
  ]);
});

test('a path does not name the test mode', async () => {
  const delivery = standardDelivery(PURCHASE, {
    secret: TEST_SECRET,
    id: 'msg_1',
    at: clock.now(),
  });
  assert.equal((await deliver('standard:test', delivery)).status, 404);
});

test('no count includes test events and licenses; lists show them, marked', async () => {
  await deliverStandard(TEST_SECRET);
  await deliverStandard(TEST_SECRET, standardPurchase('ord_2', ['unknown']), 'msg_2');
  await deliverStandard(TEST_SECRET, { ...PURCHASE, data: {} }, 'msg_3');
  assert.equal((await countLicensesByStatus(pool, clock.now()))['active'], 0);
  assert.equal(await countUnmatchedEvents(pool, 100), 0);
  assert.deepEqual(await countUnappliedEvents(pool), { deferred: 0, failed: 0 });
  const listed = readBody((await admin.get('/api/v1/admin/payment-events')).body)['items'];
  assert.ok(Array.isArray(listed));
  assert.deepEqual(
    new Set(
      listed.map(
        (item) => `${String(readBody(item)['provider'])} ${String(readBody(item)['state'])}`,
      ),
    ),
    new Set(['standard:test applied', 'standard:test failed', 'standard:test unmatched']),
  );
  const licenses = readBody((await admin.get('/api/v1/admin/licenses')).body)['items'];
  assert.ok(Array.isArray(licenses));
  assert.deepEqual(
    licenses.map((item) => readBody(item)['is_test']),
    [true],
  );
});

test('a replay keeps the mode in which an event was received', async () => {
  await deliverStandard(TEST_SECRET, standardPurchase('ord_2', ['unknown']), 'msg_2');
  const path = '/api/v1/admin/payment-events/standard:test/msg_2/replay';
  const answer = await admin.post(path, { reason: 'again' });
  const [outcome] = [readBody(answer.body)['outcomes']].flat().map(readBody);
  assert.deepEqual([outcome?.['provider'], outcome?.['state']], ['standard:test', 'unmatched']);
});

test('the deletion removes test purchases with their licenses and machines, and nothing real', async () => {
  await deliverStandard(STANDARD_SECRET);
  await deliverStandard(TEST_SECRET, standardPurchase('ord_2', ['solo']));
  const customer = standardEvent('customer.created', { id: '1', email: 'ann@example.com' });
  await deliverStandard(STANDARD_SECRET, customer, 'msg_2');
  await deliverStandard(TEST_SECRET, customer, 'msg_2');
  const { rows } = await pool.query<{ id: string }>('select id from licenses where is_test');
  await activate('ord_2');
  await pool.query(
    `insert into key_emails (transaction_id, provider, state, created_at)
     values ('ord_1', 'standard', 'waiting', now()), ('ord_2', 'standard:test', 'waiting', now())`,
  );
  const answer = await admin.post('/api/v1/admin/payment-events/delete-test-data', {
    reason: 'the test is over',
  });
  assert.deepEqual(answer.body, { events: 2, licenses: 1 });
  assert.deepEqual(await listLicenses(), [['standard', 'ord_1', false]]);
  for (const table of LICENSE_TABLES) {
    const { rows: left } = await pool.query(`select from ${table} where license_id = $1`, [
      rows[0]?.id,
    ]);
    assert.deepEqual(left, [], table);
  }
  for (const table of ['billing_events', 'billing_payments', 'billing_customers', 'key_emails']) {
    const { rows: left } = await pool.query(`select provider from ${table}`);
    assert.deepEqual(
      [...new Set(left.map((row) => readBody(row)['provider']))],
      ['standard'],
      table,
    );
  }
  const audited = await pool.query(
    `select actor, reason, details from audit_log where action = 'webhook.delete_test_data' and reason = 'the test is over'`,
  );
  assert.deepEqual(audited.rows[0]?.details, { events: 2, licenses: 1 });
});

/** Tables of licenses that are never of a test, and rows that outlast their license: roll-ups, positions, sent notifications. */
const KEPT_TABLES = [
  'import_extensions',
  'imported_licenses',
  'imported_seats',
  'license_added_keys',
  'license_pool_keys',
  'trial_claims',
  'trial_conversions',
  'webhook_messages',
  'webhook_expiry_cursor',
];

test('the deletion knows every table with rows of a license', async () => {
  const { rows } = await pool.query<{ table_name: string }>(
    `select table_name from information_schema.columns
     where column_name = 'license_id' and table_schema = current_schema()`,
  );
  assert.deepEqual(
    new Set(rows.map((row) => row.table_name)),
    new Set([...LICENSE_TABLES, ...KEPT_TABLES]),
  );
});
