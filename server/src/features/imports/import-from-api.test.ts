import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { activate } from '../../../test/license-steps.ts';
import {
  startPaddleApiStub,
  type StubAnswer,
} from '../../../test/payment-providers/paddle-api-stub.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { DAY_MS } from '../../../test/test-clock.ts';
import {
  APRIL,
  CATALOG,
  lemonSqueezyShop,
  MAY,
  SHOPS,
  stripeShop,
  type Shop,
} from './provider-shops.fixture.ts';
import { ApiImportError, importFromApi } from './import-from-api.ts';
import type { ImportReport } from './rules/report.ts';
import type { ApiSource } from './provider-api/api-sources.ts';
import { readMapping } from './rules/map-product.ts';

const service = await startTestService({ catalog: testCatalog(CATALOG) });
const { context, pool, clock } = service;
const stub = await startPaddleApiStub();

async function runImport(source: ApiSource, answer: StubAnswer): Promise<ImportReport> {
  stub.answer = answer;
  const { report } = await importFromApi(context, {
    source,
    apiKey: 'key_of_the_account',
    apiUrl: stub.url,
    mapping: readMapping([], context.catalog()),
    actor: 'cli:test',
    reason: null,
    dryRun: false,
  });
  return report;
}

function outcomesOf({ outcomes }: ImportReport) {
  return Object.fromEntries(Object.entries(outcomes).filter(([, count]) => count > 0));
}

interface Stored {
  readonly id: string;
  readonly expires_at: Date | null;
  readonly customer_email: string | null;
  readonly max_activations: number;
  readonly canceled_at: Date | null;
}

async function listLicenses(email: string): Promise<Stored[]> {
  const { rows } = await pool.query<Stored>(
    'select id, expires_at, customer_email, max_activations, canceled_at from licenses where customer_email = $1 order by id',
    [email],
  );
  return rows;
}

async function renew({ path, renewal, sign }: Shop): Promise<void> {
  for (const event of renewal) {
    const { body, headers } = sign(event);
    const answer = await service.post(path, body, { ...headers });
    assert.equal(answer.status, 200, answer.text);
  }
}

before(() => {
  clock.set(APRIL);
});

for (const [provider, openShop] of Object.entries(SHOPS)) {
  describe(`a running subscription of ${provider}`, () => {
    test('is imported once, and its renewal extends the same license', async () => {
      clock.set(new Date(APRIL.getTime() - 2 * DAY_MS));
      const shop = openShop('before');
      assert.deepEqual(outcomesOf(await runImport(shop.source, shop.answer)), { new: 1 });
      assert.deepEqual(outcomesOf(await runImport(shop.source, shop.answer)), { same: 1 });
      const [imported, ...others] = await listLicenses(shop.email);
      assert.deepEqual([imported?.expires_at, imported?.max_activations], [APRIL, 5]);
      assert.deepEqual(others, []);
      clock.set(APRIL);
      await renew(shop);
      const renewed = await listLicenses(shop.email);
      assert.deepEqual(
        renewed.map(({ id, expires_at: end }) => [id, end]),
        [[imported?.id, MAY]],
      );
      assert.equal(await service.count('key_emails'), 0);
    });

    test('that was renewed here before the import gets no second license', async () => {
      clock.set(APRIL);
      const shop = openShop('after');
      await renew(shop);
      const [created] = await listLicenses(shop.email);
      assert.deepEqual(created?.expires_at, MAY);
      assert.deepEqual(outcomesOf(await runImport(shop.source, shop.answer)), { same: 1 });
      assert.deepEqual(await listLicenses(shop.email), [created]);
    });
  });
}

describe('a license key of Lemon Squeezy', () => {
  const licenseKey = '80E15DB5-C796-436B-850C-8F9C98A48ABE';

  test('keeps working, and the renewal of its subscription extends it', async () => {
    clock.set(new Date(APRIL.getTime() - 2 * DAY_MS));
    const shop = lemonSqueezyShop('key', [licenseKey]);
    assert.deepEqual(outcomesOf(await runImport(shop.source, shop.answer)), { new: 1 });
    await activate(service, licenseKey, { machine_id: 'first' });
    clock.set(APRIL);
    await renew(shop);
    const { rows } = await pool.query(
      `select license_id from activations where machine_id = 'first'`,
    );
    const ids = rows.map(({ license_id: id }) => id);
    const licenses = await listLicenses(shop.email);
    assert.deepEqual(
      licenses.map(({ id, expires_at: end }) => [id, end]),
      ids.map((id) => [id, MAY]),
    );
  });

  test('is added to the license that a renewal or a checkout created before the import', async () => {
    clock.set(APRIL);
    const events = {
      late: ['91F26EC6-D807-447C-961D-9F0A09B59BCF', []],
      both: ['D5A3C5E8-72E0-4B6E-9E5E-4F4D9B7A3C21', ['order']],
    } as const;
    for (const [name, [oldKey, earlier]] of Object.entries(events)) {
      const shop = lemonSqueezyShop(name, [oldKey]);
      const renewal = [...(earlier.length > 0 ? [shop.order] : []), ...shop.renewal];
      await renew({ ...shop, renewal });
      const [created] = await listLicenses(shop.email);
      assert.deepEqual(outcomesOf(await runImport(shop.source, shop.answer)), { key_added: 1 });
      assert.deepEqual(await listLicenses(shop.email), [created]);
      await activate(service, oldKey, { machine_id: name });
      await renew({ ...shop, renewal: [shop.later] });
      const licenses = await listLicenses(shop.email);
      assert.deepEqual(
        licenses.map(({ id, canceled_at: canceledAt }) => [id, canceledAt]),
        [[created?.id, null]],
      );
      assert.deepEqual(outcomesOf(await runImport(shop.source, shop.answer)), { same: 1 });
    }
  });
});

describe('importFromApi', () => {
  const request = {
    source: 'stripe',
    apiKey: 'rk_live_1',
    apiUrl: null,
    mapping: readMapping([], context.catalog()),
    actor: 'cli:test',
    reason: null,
    dryRun: true,
  } as const;

  test('refuses a key of a test mode, the host of a sandbox, and an address without encryption', async () => {
    for (const refused of [
      { ...request, apiKey: 'rk_test_1' },
      { ...request, apiKey: 'sk_test_1' },
      { ...request, source: 'paddle', apiKey: 'pdl_sdbx_apikey_1' } as const,
      { ...request, source: 'paddle', apiUrl: 'https://sandbox-api.paddle.com' } as const,
    ]) {
      await assert.rejects(importFromApi(context, refused), /is the test mode of/u);
    }
    const open = { ...request, apiUrl: 'http://api.stripe.example' };
    await assert.rejects(importFromApi(context, open), /must begin with https/u);
  });

  test('names the permissions that a refused key lacks, without the key', async () => {
    stub.answer = stripeShop('refused').answer;
    const refused = importFromApi(context, { ...request, apiUrl: stub.url });
    await assert.rejects(
      refused,
      new ApiImportError(
        'Cannot read the account: Stripe answers 401. The key needs permissions: to read subscriptions, customers and invoices. Licenses that were imported stay; run the command again.',
      ),
    );
  });
});
