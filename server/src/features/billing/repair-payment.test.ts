import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';

import { startTestService } from '../../../test/harness.ts';
import { standardEvent } from '../../../test/payment-providers/standard-webhooks-events.ts';
import { TEST_START, DAY_MS } from '../../../test/test-clock.ts';
import { openRepairs, repairCatalog, WHO } from './repair-steps.fixture.ts';

const service = await startTestService({ catalog: repairCatalog() });
const { context, pool } = service;
const { receive, repair, replay, sell, show, soldBy } = openRepairs(service);

async function lastAction(): Promise<unknown> {
  const { rows } = await pool.query<{ action: string; details: unknown }>(
    'select action, details from audit_log order by sequence desc limit 1',
  );
  return rows[0];
}

describe('a price that is a product', () => {
  test('creates the license of this purchase only, is audited, and a replay keeps it', async () => {
    await sell('one', 'old-price');
    await sell('other', 'old-price');
    await repair('one', { kind: 'price', productId: 'personal', priceId: null, forAll: false });
    assert.deepEqual(await lastAction(), {
      action: 'webhook.repair_price',
      details: { provider: 'standard', price: 'old-price', product: 'personal', for_all: false },
    });
    const before = await soldBy('one');
    assert.deepEqual(
      before.map(({ product_id: product }) => product),
      ['personal'],
    );
    await replay('one');
    assert.deepEqual(await soldBy('one'), before);
    assert.deepEqual([(await show('one')).state, (await show('one')).message], ['applied', null]);
    assert.deepEqual(await soldBy('other'), []);
    assert.equal((await show('other')).state, 'unmatched');
  });

  test('creates the licenses of all purchases, of those that wait and of later ones', async () => {
    await sell('waits', 'retired');
    await sell('named', 'retired');
    await repair('named', { kind: 'price', productId: 'sellers', priceId: null, forAll: true });
    await sell('later', 'retired');
    for (const id of ['waits', 'named', 'later']) {
      const products = (await soldBy(id)).map(({ product_id: product }) => product);
      assert.deepEqual(products, ['sellers'], id);
      assert.equal((await show(id)).state, 'applied', id);
    }
  });

  test('must name a product of the catalogue, and one of several prices', async () => {
    await sell('two', null, { lines: [{ price_id: 'a' }, { price_id: 'b' }] });
    const fact = { kind: 'price', priceId: null, forAll: false } as const;
    await assert.rejects(repair('two', { ...fact, productId: 'nothing' }), /no product nothing/u);
    await assert.rejects(repair('two', { ...fact, productId: 'personal' }), /several prices/u);
  });
});

describe('a license issued from an event', () => {
  test('exists once, follows a refund of the payment, and a replay keeps it', async () => {
    await sell('nothing', null);
    assert.equal((await show('nothing')).state, 'unmatched');
    await repair('nothing', { kind: 'issue', productId: 'personal', quantity: 1 });
    await repair('nothing', { kind: 'issue', productId: 'personal', quantity: 3 });
    const [issued, ...others] = await soldBy('nothing');
    assert.deepEqual([issued?.product_id, issued?.max_activations, others], ['personal', 6, []]);
    assert.equal((await show('nothing')).state, 'applied');
    await receive('nothing-back', 'payment.refunded', {
      refund_id: 'refund-nothing',
      transaction_id: 'order-nothing',
      total: 4_900,
      currency: 'EUR',
    });
    await replay('nothing');
    const [refunded, ...more] = await soldBy('nothing');
    assert.deepEqual([refunded?.id, refunded?.refunded_at, more], [issued?.id, TEST_START, []]);
  });

  test('exists once for an event from the future, has its buyer and begins now', async () => {
    const nextYear = new Date(TEST_START.getTime() + 365 * DAY_MS);
    const body = standardEvent(
      'purchase.completed',
      {
        transaction_id: 'order-future',
        customer: { id: 'customer-future', email: 'future@example.com' },
        lines: [{ price_id: 'personal' }],
      },
      nextYear,
    );
    await pool.query(
      `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, message, attempts)
       values ('future', 'standard', 'purchase.completed', $1, $2, $3, '{"webhook-id":"future"}', 'failed', 'in the future', 1)`,
      [nextYear, TEST_START, Buffer.from(JSON.stringify(body))],
    );
    await repair('future', { kind: 'issue', productId: 'personal', quantity: 1 });
    await repair('future', { kind: 'issue', productId: 'personal', quantity: 2 });
    const [issued, ...others] = await soldBy('future');
    assert.deepEqual(
      [issued?.customer_email, issued?.max_activations, others],
      ['future@example.com', 4, []],
    );
    assert.equal((await show('future')).state, 'applied');
    const { rows } = await pool.query<{ occurred_at: Date }>(
      `select occurred_at from billing_payments where event_id = 'future'`,
    );
    assert.deepEqual(rows, [{ occurred_at: TEST_START }]);
  });
});

describe('a subscription that is a license', () => {
  test('adopts an imported license instead of the one that a renewal created', async () => {
    const license = foreign({
      licenseKey: 'OLDK-7Q2M-9V4X-LINKED',
      isSubscription: true,
      expiresAt: new Date(TEST_START.getTime() - 90 * DAY_MS),
      maxActivations: 2,
      customerEmail: 'link@example.com',
    });
    const { report } = await runImport(context, [license], { ...WHO, allowWeakKeys: true });
    assert.equal(report.outcomes.new, 1);
    const { rows } = await pool.query<{ id: string }>(
      `select id from licenses where customer_email = 'link@example.com'`,
    );
    const [imported] = rows;
    const ends = new Date(TEST_START.getTime() + 30 * DAY_MS);
    await receive('renewed', 'purchase.renewed', {
      transaction_id: 'order-renewed',
      subscription_id: 'sub-linked',
      customer: { id: 'c-linked', email: 'link@example.com' },
      lines: [{ price_id: 'personal', cycle: { interval: 'month' } }],
      period: { starts_at: TEST_START.toISOString(), ends_at: ends.toISOString() },
      total: 4_900,
    });
    assert.notEqual((await soldBy('renewed'))[0]?.id, imported?.id);
    await repair('renewed', { kind: 'subscription', licenseId: imported?.id ?? '' });
    assert.deepEqual(
      (await soldBy('renewed')).map(({ id }) => id),
      [imported?.id],
    );
  });
});

describe('an address', () => {
  test('replaces that of the provider, now and after its later reports', async () => {
    await sell('typo', 'personal');
    await repair('typo', { kind: 'address', email: 'right@example.com' });
    await receive('typo-customer', 'customer.updated', {
      id: 'customer-typo',
      email: 'wrong@example.com',
    });
    await replay('typo');
    const addresses = (await soldBy('typo')).map(({ customer_email: email }) => email);
    assert.deepEqual(addresses, ['right@example.com']);
  });
});

test('a payment that cannot be right needs attention until an operator issues what it sold, which a refund ends', async () => {
  const ends = new Date(TEST_START.getTime() - DAY_MS).toISOString();
  const period = { starts_at: TEST_START.toISOString(), ends_at: ends };
  await sell('reversed', 'personal', { period });
  assert.deepEqual(await soldBy('reversed'), []);
  assert.equal((await show('reversed')).state, 'unmatched');
  await repair('reversed', { kind: 'issue', productId: 'personal', quantity: 1 });
  await replay('reversed');
  assert.equal((await soldBy('reversed')).length, 1);
  assert.equal((await show('reversed')).state, 'applied');
  const refund = { refund_id: 'refund-reversed', transaction_id: 'order-reversed', full: true };
  await receive('reversed-back', 'payment.refunded', refund);
  const refunds = (await soldBy('reversed')).map(({ refunded_at: refundedAt }) => refundedAt);
  assert.deepEqual(refunds, [TEST_START]);
});

test('one id for two customers of a shop needs attention until the address is set', async () => {
  const before = new Date(TEST_START.getTime() - DAY_MS);
  const guest = { id: 'guest', email: 'first@example.com' };
  await receive('guest', 'customer.updated', guest, before);
  const customer = { id: 'guest', email: 'second@example.com' };
  await sell('second-guest', 'personal', { customer });
  assert.match((await show('second-guest')).message ?? '', /names another address/u);
  await repair('second-guest', { kind: 'address', email: 'second@example.com' });
  assert.equal((await show('second-guest')).state, 'applied');
});
