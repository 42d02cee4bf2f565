import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../../../test/harness.ts';
import { readParts, startMailRelay } from '../../../test/mail-relay.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { sendKeyEmail } from '../key-emails/send-key-email.ts';

const CATALOG = testCatalog(`
key_prefix: LK
trial: { product: app }
products:
  - { id: app, name: App, tier: app, max_activations: 2, prices: { standard: [app] } }
  - { id: seat, name: Seat, tier: seat, max_activations: 1, quantity: keys, prices: { standard: [seat] } }
  - { id: server, name: Server, tier: server, max_activations: 5 }
bundles:
  - products: [app, server]
    prices: { standard: [suite] }
`);

const relay = await startMailRelay();
const mail = createSmtpTransport({ url: relay.url, from: 'Shop <shop@example.com>', dkim: null });
const service = await startTestService({ mail, catalog: CATALOG });
after(async () => {
  mail.close();
  await relay.close();
});

const { context, pool, clock } = service;
const shop = openStandardShop(service);

async function buy(transactionId: string, line: object, more: object = {}) {
  const receipt = await shop.send('purchase.completed', {
    transaction_id: transactionId,
    customer: { id: `c_${transactionId}`, email: 'ann@example.com', name: 'Ann', locale: 'en' },
    lines: [line],
    total: 1_000,
    ...more,
  });
  assert.deepEqual([receipt.status, receipt.message], ['processed', null]);
}

/** Sends the key e-mail of a transaction, and returns its text. */
async function readEmail(transactionId: string): Promise<string> {
  const before = relay.mails.length;
  await sendKeyEmail(context, { provider: 'standard', transactionId });
  const sent = relay.mails[before];
  assert.ok(sent);
  return readParts(sent);
}

async function keysOf(transactionId: string): Promise<string[]> {
  return (await shop.check(transactionId)).map((each) => each.license_key ?? '');
}

async function readStatuses(transactionId: string): Promise<string[]> {
  return (await shop.check(transactionId)).map((each) => each.status);
}

describe('a line of keys', () => {
  test('has every key in the check of the checkout and in the e-mail', async () => {
    await buy('ord_keys', { price_id: 'seat', quantity: 12 });
    const keys = await keysOf('ord_keys');
    assert.equal(new Set(keys).size, 12);
    const text = await readEmail('ord_keys');
    assert.deepEqual(
      keys.filter((key) => !text.includes(key)),
      [],
    );
    const { rows } = await pool.query(
      `select distinct sale.quantity_as, sale.machines, l.max_activations
       from billing_licenses billed join billing_sales sale using (license_id) join licenses l on l.id = license_id
       where transaction_id = 'ord_keys'`,
    );
    assert.deepEqual(rows, [{ quantity_as: 'keys', machines: 1, max_activations: 1 }]);
  });

  test('stays as many keys when the catalogue changes to machines', async () => {
    await buy('ord_kept', { price_id: 'seat', quantity: 3 });
    const before = await keysOf('ord_kept');
    const seat = CATALOG.products.get('seat');
    assert.ok(seat);
    const { quantityAs: _keys, ...machines } = seat;
    service.useCatalog({
      ...CATALOG,
      products: new Map([...CATALOG.products, ['seat', machines]]),
      findPrice: (provider, priceId) =>
        priceId === 'seat' ? machines : CATALOG.findPrice(provider, priceId),
    });
    await shop.send('customer.updated', { id: 'c_ord_kept', email: 'bob@example.com' });
    service.useCatalog(CATALOG);
    assert.deepEqual(
      (await shop.check('ord_kept')).map((each) => [each.license_key, each.status]),
      before.map((key) => [key, 'active']),
    );
  });

  test('of a subscription ends its newest keys with the quantity, and begins them again', async () => {
    const cycle = { interval: 'month' };
    const period = { starts_at: '2027-03-01T12:00:00Z', ends_at: '2027-04-01T12:00:00Z' };
    const update = (quantity: number) => {
      clock.advance(60_000);
      return shop.send('subscription.updated', {
        subscription_id: 'sub_keys',
        status: 'active',
        period,
        lines: [{ price_id: 'seat', quantity, cycle }],
      });
    };
    const line = { price_id: 'seat', quantity: 3, cycle };
    await buy('ord_sub', line, { subscription_id: 'sub_keys', period });
    const keys = await keysOf('ord_sub');
    await update(1);
    assert.deepEqual(await readStatuses('ord_sub'), ['active', 'canceled', 'canceled']);
    await update(2);
    assert.deepEqual(await readStatuses('ord_sub'), ['active', 'active', 'canceled']);
    assert.deepEqual(await keysOf('ord_sub'), keys);
  });
});

describe('a bundle', () => {
  test('has the licenses of all of its products in one e-mail, and its refund ends them', async () => {
    await buy('ord_suite', { price_id: 'suite' });
    const licenses = await shop.check('ord_suite');
    assert.deepEqual(
      licenses.map((each) => each.product_type),
      ['app', 'server'],
    );
    const text = await readEmail('ord_suite');
    for (const { license_key: key } of licenses) assert.ok(text.includes(key ?? ''));
    const receipt = await shop.send('payment.refunded', {
      refund_id: 'ref_suite',
      transaction_id: 'ord_suite',
      full: true,
    });
    assert.equal(receipt.message, null);
    assert.deepEqual(
      (await shop.check('ord_suite')).map((each) => each.status),
      ['refunded', 'refunded'],
    );
  });
});

test('a one-time charge of a subscription has a license under its own transaction', async () => {
  const period = { starts_at: '2027-03-01T12:00:00Z', ends_at: '2027-04-01T12:00:00Z' };
  await buy(
    'ord_base',
    { price_id: 'seat', cycle: { interval: 'month' } },
    { subscription_id: 'sub_charge', period },
  );
  const receipt = await shop.send('purchase.changed', {
    transaction_id: 'ord_charge',
    subscription_id: 'sub_charge',
    lines: [{ price_id: 'app' }],
    total: 500,
  });
  assert.deepEqual([receipt.status, receipt.message], ['processed', null]);
  assert.deepEqual(
    (await shop.check('ord_charge')).map((each) => [each.product_type, each.expires_at]),
    [['app', null]],
  );
  assert.deepEqual(
    (await shop.check('ord_base')).map((each) => [each.product_type, each.expires_at]),
    [['seat', '2027-04-01T12:00:00.000Z']],
  );
});
