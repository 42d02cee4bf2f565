/** Programs that were sold at Gumroad verify their keys at the service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';

import { startTestService, type TestOrder } from '../harness.ts';
import { anyAddress } from '../http-client.ts';
import { anyUnknownKey } from '../license-steps.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';

const PATH = '/v2/licenses/verify';
const PRODUCT = '32-nPAicqbLj8B_WswVlMw==';

const catalog = testCatalog(
  CATALOG.replace(
    'max_activations: 2',
    `max_activations: 2\n    compatible: { gumroad: { products: ['${PRODUCT}', studio] }, show_customer: true }`,
  ),
);

const service = await startTestService({ catalog });

const Verified = Type.Object({
  success: Type.Boolean(),
  uses: Type.Integer(),
  purchase: Type.Record(Type.String(), Type.Unknown()),
});

/** Verifies a key, which must succeed. */
async function verify(key: string, fields: Readonly<Record<string, unknown>> = {}) {
  const body = { product_id: PRODUCT, license_key: key, ...fields };
  const answer = await service.post(PATH, body);
  assert.equal(answer.status, 200, answer.text);
  return Parse(Verified, answer.body);
}

/** Verifies the key of a new license, and returns the status and the message or the purchase. */
async function verifyNew(order: TestOrder) {
  const { licenseKey } = await service.issue(order);
  const body = { product_id: PRODUCT, license_key: licenseKey };
  const answer = await service.post(PATH, body);
  return { status: answer.status, body: Object(answer.body) };
}

describe('the interface of Gumroad', () => {
  test('answers for an imported key with the id and the time of its sale', async () => {
    const licenseKey = '85DB562A-C11D4B06-A2335A6B-8C079166';
    const createdAt = new Date('2024-05-06T07:08:09Z');
    await runImport(service.context, [foreign({ licenseKey, sourceId: 'sale==', createdAt })]);
    const { uses, purchase } = await verify(licenseKey);
    const { id, sale_id, sale_timestamp, created_at } = purchase;
    const time = '2024-05-06T07:08:09Z';
    assert.deepEqual(
      [uses, id, sale_id, sale_timestamp, created_at],
      [1, 'sale==', 'sale==', time, time],
    );
  });

  test('answers for a key with the purchase, and counts uses', async () => {
    const owner = { customerEmail: 'ada@example.com', customerName: 'Ada' };
    const { licenseKey, license } = await service.issue(owner);
    const { success, uses, purchase } = await verify(licenseKey);
    assert.deepEqual([success, uses], [true, 1]);
    const expected = {
      product_id: PRODUCT,
      product_name: 'Personal',
      license_key: licenseKey,
      email: 'ada@example.com',
      sale_id: license.id,
      sale_timestamp: TEST_START.toISOString().replace('.000Z', 'Z'),
      quantity: 1,
      refunded: false,
      disputed: false,
      chargebacked: false,
      test: false,
      subscription_id: null,
      subscription_ended_at: null,
      subscription_cancelled_at: null,
      subscription_failed_at: null,
    };
    const shown = Object.keys(expected).map((name) => [name, purchase[name]]);
    assert.deepEqual(Object.fromEntries(shown), expected);
    assert.equal((await verify(licenseKey)).uses, 2);
    for (const value of [false, 'false']) {
      assert.equal((await verify(licenseKey, { increment_uses_count: value })).uses, 2);
    }
  });

  test('counts each of many uses at once', async () => {
    const { licenseKey } = await service.issue();
    const counts = await Promise.all(Array.from({ length: 20 }, () => verify(licenseKey)));
    assert.deepEqual(
      counts.map(({ uses }) => uses).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
  });

  test('reads the product and the key as programs send them', async () => {
    const { licenseKey } = await service.issue();
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const parts = [
      { product_id: PRODUCT },
      { product_permalink: 'studio' },
      { link_id: 'studio' },
      { id: 'studio' },
    ];
    for (const part of parts) {
      const fields = new URLSearchParams({ ...part, license_key: licenseKey }).toString();
      assert.equal((await service.post(PATH, fields, form)).status, 200, fields);
      assert.equal((await service.send('POST', `${PATH}?${fields}`)).status, 200, fields);
    }
  });

  test('refuses an unknown key, one of another product, and one without a product', async () => {
    const { licenseKey } = await service.issue();
    const yearly = await service.issue({ productId: 'yearly' });
    const bodies = [
      { product_id: PRODUCT, license_key: anyUnknownKey() },
      { product_id: PRODUCT, license_key: yearly.licenseKey },
      { product_id: 'another', license_key: licenseKey },
      { license_key: licenseKey },
      { product_id: PRODUCT },
    ];
    for (const body of bodies) {
      const answer = await service.post(PATH, body);
      assert.equal(answer.status, 404);
      const message = 'That license does not exist for the provided product.';
      assert.deepEqual(answer.body, { success: false, message });
    }
  });

  test('refuses a key that was revoked, suspended, or whose term ended', async () => {
    const past = new Date(TEST_START.getTime() - DAY_MS);
    const disabled = 'This license key has been disabled.';
    const expired = 'Access to the purchase associated with this license has expired.';
    const cases = [
      { facts: { revoked_at: past }, message: disabled },
      { facts: { suspended_at: past }, message: disabled },
      { facts: { expires_at: past }, message: expired },
    ];
    for (const { facts, message } of cases) {
      const { status, body } = await verifyNew({ facts });
      assert.deepEqual([status, body], [404, { success: false, message }]);
    }
  });

  test('answers for a refunded purchase and an ended subscription, and says so', async () => {
    const past = new Date('2027-01-01T00:00:00.000Z');
    const refunded = await verifyNew({ facts: { refunded_at: past } });
    assert.deepEqual([refunded.status, refunded.body.purchase.refunded], [200, true]);
    const ended = await verifyNew({ facts: { canceled_at: past, subscription: true } });
    const { subscription_ended_at: endedAt, subscription_cancelled_at: canceledAt } =
      ended.body.purchase;
    assert.deepEqual([endedAt, canceledAt], ['2027-01-01T00:00:00Z', '2027-01-01T00:00:00Z']);
  });

  test('marks a test purchase', async () => {
    const { licenseKey, license } = await service.issue();
    await service.pool.query('update licenses set is_test = true where id = $1', [license.id]);
    assert.equal((await verify(licenseKey)).purchase['test'], true);
  });

  test('limits guesses', async () => {
    const headers = { 'x-forwarded-for': anyAddress() };
    const body = { product_id: PRODUCT, license_key: 'guess' };
    let answer = await service.post(PATH, body, headers);
    for (let count = 0; count < 10; count += 1) answer = await service.post(PATH, body, headers);
    assert.deepEqual([answer.status, Object(answer.body).success], [429, false]);
  });

  test('does not exist while no product offers it', async () => {
    service.useCatalog(testCatalog());
    assert.equal((await service.post(PATH, { product_id: PRODUCT })).status, 404);
    service.useCatalog(catalog);
  });
});
