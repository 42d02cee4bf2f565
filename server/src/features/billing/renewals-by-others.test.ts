/** Buyers write the custom data of a checkout: they may name any license, and send a gift to any address. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { createSmtpTransport } from '#server/mail/smtp-transport.ts';

import { startTestService } from '../../../test/harness.ts';
import { startMailRelay } from '../../../test/mail-relay.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { sendKeyEmail } from '../key-emails/send-key-email.ts';

const CATALOG = testCatalog(`
key_prefix: LK
trial: { product: year }
products:
  - { id: year, name: Year, tier: year, max_activations: 2, prices: { standard: [year] } }
  - { id: pro, name: Pro, tier: pro, max_activations: 5, prices: { standard: [pro] } }
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

interface Order {
  readonly prices: readonly string[];
  readonly customData: object;
  readonly email?: string;
  readonly more?: object;
}

async function buy(transactionId: string, { prices, customData, email, more = {} }: Order) {
  clock.advance(60_000);
  return shop.send('purchase.completed', {
    transaction_id: transactionId,
    customer: { id: `c_${transactionId}`, ...(email === undefined ? {} : { email }) },
    lines: prices.map((price) => ({ price_id: price })),
    total: 1_000,
    custom_data: customData,
    ...more,
  });
}

async function sendKeys(transactionId: string): Promise<string> {
  const sent = relay.mails.length;
  await sendKeyEmail(context, { provider: 'standard', transactionId });
  return relay.mails
    .slice(sent)
    .map(({ raw }) => raw.replaceAll('=\r\n', ''))
    .join('\n');
}

async function readTerms(id: string): Promise<unknown> {
  const { rows } = await pool.query(
    'select product_id, max_activations from licenses where id = $1',
    [id],
  );
  return rows[0];
}

test('the id of a license without an address does not reveal its key', async () => {
  const { license, licenseKey } = await service.issue({ productId: 'year' });
  const customData = { license_id: license.id };
  await buy('ord_eve', { prices: ['pro', 'year'], customData, email: 'eve@example.com' });
  const [bought] = await shop.check('ord_eve');
  const text = await sendKeys('ord_eve');
  assert.ok(bought?.license_key !== null && text.includes(bought?.license_key ?? '?'));
  assert.ok(!text.includes(licenseKey));
});

test('a payer without a known address changes neither product nor machines, until the address is known', async () => {
  const { license, licenseKey } = await service.issue({
    productId: 'year',
    customerEmail: 'ann@example.com',
  });
  const year = { product_id: 'year', max_activations: 2 };
  for (const [index, named] of [
    { license_id: license.id },
    { license_key: licenseKey },
  ].entries()) {
    const receipt = await buy(`ord_x${index}`, { prices: ['pro'], customData: named });
    assert.match(receipt.message ?? '', /^Needs attention: it would change the product/);
    assert.deepEqual(await readTerms(license.id), year);
  }
  const monthly = { interval: 'month' };
  const more = {
    subscription_id: 'sub_x',
    lines: [{ price_id: 'year', cycle: monthly }],
    period: {
      starts_at: clock.now().toISOString(),
      ends_at: new Date(clock.now().getTime() + 86_400_000).toISOString(),
    },
  };
  const other = { customData: { license_id: license.id }, prices: [], more };
  await pool.query('update licenses set max_activations = 50 where id = $1', [license.id]);
  assert.match((await buy('ord_sub', other)).message ?? '', /^Needs attention: it would change/);
  await shop.send('customer.updated', { id: 'c_ord_x0', email: 'Ann@example.com' });
  assert.deepEqual(await readTerms(license.id), { ...year, max_activations: 50 });
  await pool.query('update licenses set max_activations = 2 where id = $1', [license.id]);
  await shop.send('customer.updated', { id: 'c_ord_x1', email: 'Ann@example.com' });
  assert.deepEqual(await readTerms(license.id), { product_id: 'pro', max_activations: 5 });
});

for (const named of ['id', 'key'] as const) {
  test(`a purchase with the ${named} of a license and the address of its owner makes it no smaller`, async () => {
    const email = 'ann@example.com';
    const { license, licenseKey } = await service.issue({ productId: 'pro', customerEmail: email });
    const customData = named === 'id' ? { license_id: license.id } : { license_key: licenseKey };
    const receipt = await buy(`ord_small_${named}`, { prices: ['year'], customData, email });
    assert.match(receipt.message ?? '', /^Needs attention: it would change a license to a product/);
    assert.deepEqual(await readTerms(license.id), { product_id: 'pro', max_activations: 5 });
    const gift = { ...customData, gift_to: email };
    await buy(`ord_gift_${named}`, {
      prices: ['year'],
      customData: gift,
      email: 'eve@example.com',
    });
    assert.deepEqual(await readTerms(license.id), { product_id: 'pro', max_activations: 5 });
    await pool.query('update licenses set expires_at = $2 where id = $1', [
      license.id,
      new Date(clock.now().getTime() - 86_400_000),
    ]);
    await buy(`ord_late_${named}`, { prices: ['year'], customData, email });
    assert.deepEqual(await readTerms(license.id), { product_id: 'pro', max_activations: 5 });
    assert.deepEqual((await shop.check(`ord_late_${named}`)).length, 0);
  });
}

test('the key of a license without an address is enough to upgrade it; its id is not', async () => {
  const { license, licenseKey } = await service.issue({ productId: 'year' });
  const upgrade = { prices: ['pro'], email: 'eve@example.com' };
  await buy('ord_id', { ...upgrade, customData: { license_id: license.id } });
  assert.deepEqual(await readTerms(license.id), { product_id: 'year', max_activations: 2 });
  await buy('ord_key', { ...upgrade, customData: { license_key: licenseKey } });
  assert.deepEqual(await readTerms(license.id), { product_id: 'pro', max_activations: 5 });
});

test('a name that contains a link or an address is nowhere in the e-mail of a gift', async () => {
  const name = 'You won\r\nBcc: all@example.net\r\n\r\nhttps://evil.example';
  const customData = { gift_to: 'bob@example.com', recipient_name: name };
  await buy('ord_gift', { prices: ['year'], customData, email: 'eve@example.com' });
  const text = await sendKeys('ord_gift');
  assert.match(text, /^To: bob@example\.com\r$/m);
  assert.doesNotMatch(text, /evil\.example|example\.net|You won/);
});

test('the checkout of a renewal does not show the key of the license, that of its purchase does', async () => {
  const customData = {};
  const year = { prices: ['year'], email: 'ann@example.com' };
  await buy('ord_first', { ...year, customData });
  const [first] = await shop.check('ord_first');
  assert.ok(first?.license_key);
  const { rows } = await pool.query(
    `select license_id from billing_licenses where transaction_id = 'ord_first'`,
  );
  await buy('ord_renews', { ...year, customData: { license_id: rows[0]?.license_id } });
  const renewed = await service.get('/api/v1/licenses/check/ord_renews');
  assert.ok(typeof renewed.body === 'object' && renewed.body !== null);
  const { license_key: key, ...shown } = { license_key: '', ...renewed.body };
  assert.equal(key, null);
  assert.ok('renewed' in shown && shown.renewed === true);
  assert.equal((await shop.check('ord_first'))[0]?.license_key, first.license_key);
});
