/** Programs that were sold at Lemon Squeezy call the service with its own client. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, mock, test } from 'node:test';

import { activateLicense, deactivateLicense, validateLicense } from '@lemonsqueezy/lemonsqueezy.js';

import { foreign, runImport } from '#server/features/imports/import-steps.fixture.ts';

import { startTestService } from '../harness.ts';
import { anyAddress } from '../http-client.ts';
import { activate, anyMachine, anyUnknownKey, listMachines } from '../license-steps.ts';
import { CATALOG, testCatalog } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';

const IDS = { store_id: 21, product_id: 42, variant_id: 63 };

const catalogWith = (offer: string) =>
  testCatalog(
    CATALOG.replace('max_activations: 2', `max_activations: 2\n    compatible: ${offer}`),
  );

const OFFERED = catalogWith(`{ lemonsqueezy: ${JSON.stringify(IDS)}, show_customer: true }`);

const service = await startTestService({ catalog: OFFERED });

const OWNER = { customerEmail: 'ada@example.com', customerName: 'Ada' };

/** The client knows one address only. */
before(() => {
  const { fetch } = globalThis;
  mock.method(globalThis, 'fetch', (url: string, init?: RequestInit) => {
    const headers = new Headers(init?.headers);
    if (!url.startsWith('https://api.lemonsqueezy.com')) return fetch(url, init);
    headers.set('x-forwarded-for', anyAddress());
    return fetch(url.replace('https://api.lemonsqueezy.com', service.url), { ...init, headers });
  });
});

/** Activates by the client, which must succeed, and returns the id of the machine. */
async function activateInstance(key: string, name = 'Studio-PC'): Promise<string> {
  const { data, error } = await activateLicense(key, name);
  assert.equal(error, null);
  const id = data?.instance?.id;
  assert.ok(id !== undefined);
  return id;
}

describe('the official client of Lemon Squeezy', () => {
  test('activates a license, with the fields that programs compare', async () => {
    const { licenseKey } = await service.issue(OWNER);
    const { statusCode, data } = await activateLicense(licenseKey, 'Studio-PC');
    const createdAt = TEST_START.toISOString().replace('Z', '000Z');
    const id = data?.license_key.id ?? 0;
    assert.ok(Number.isInteger(id) && id > 0 && id < 2 ** 31);
    assert.deepEqual([statusCode, data?.activated, data?.error], [200, true, null]);
    assert.deepEqual(data?.license_key, {
      id,
      status: 'active',
      key: licenseKey,
      activation_limit: 2,
      activation_usage: 1,
      created_at: createdAt,
      expires_at: null,
      test_mode: false,
    });
    const instanceId = data?.instance?.id ?? '';
    assert.deepEqual(data?.instance, { id: instanceId, name: 'Studio-PC', created_at: createdAt });
    assert.deepEqual(data?.meta, {
      ...IDS,
      order_id: 0,
      order_item_id: 0,
      variant_name: 'Personal',
      product_name: 'Personal',
      customer_id: 0,
      customer_name: 'Ada',
      customer_email: 'ada@example.com',
    });
    const [machine] = await listMachines(service, licenseKey);
    assert.deepEqual([machine?.activation_id, machine?.machine_id], [instanceId, 'Studio-PC']);
  });

  test('activates as many machines as the license allows, together with the present software', async () => {
    const { licenseKey } = await service.issue();
    await activate(service, licenseKey, anyMachine());
    await activateInstance(licenseKey);
    const { statusCode, data, error } = await activateLicense(licenseKey, 'Studio-PC');
    assert.equal(statusCode, 400);
    assert.equal(error?.cause, 'This license key has reached the activation limit.');
    assert.equal(data?.activated, false);
    assert.equal(data?.license_key.activation_usage, 2);
  });

  test('validates a machine, and counts it', async () => {
    const { licenseKey } = await service.issue();
    const id = await activateInstance(licenseKey);
    const { statusCode, data } = await validateLicense(licenseKey, id);
    assert.deepEqual([statusCode, data?.valid, data?.instance?.id], [200, true, id]);
    const [machine] = await listMachines(service, licenseKey);
    assert.equal(machine?.validation_count, 1);
  });

  test('validates a key without a machine', async () => {
    const { licenseKey } = await service.issue();
    const { data } = await validateLicense(licenseKey);
    assert.deepEqual(
      [data?.valid, data?.instance, data?.license_key.status],
      [true, null, 'inactive'],
    );
  });

  test('deactivates a machine, so that another one can be activated', async () => {
    const { licenseKey } = await service.issue();
    const id = await activateInstance(licenseKey);
    await activateInstance(licenseKey);
    const { statusCode, data } = await deactivateLicense(licenseKey, id);
    assert.deepEqual([statusCode, data?.deactivated], [200, true]);
    assert.equal(data?.license_key.activation_usage, 1);
    await activateInstance(licenseKey);
    const again = await deactivateLicense(licenseKey, id);
    assert.equal(again.statusCode, 404);
    assert.equal(again.error?.cause, 'license_key_instance not found.');
    assert.equal((await validateLicense(licenseKey, id)).statusCode, 404);
  });

  test('learns that a key or a machine is unknown', async () => {
    const unknown = await activateLicense(anyUnknownKey(), 'Studio-PC');
    assert.deepEqual([unknown.statusCode, unknown.error?.cause], [404, 'license_key not found.']);
    const { licenseKey } = await service.issue();
    for (const id of [randomUUID(), '17']) {
      const { statusCode, error } = await validateLicense(licenseKey, id);
      assert.deepEqual([statusCode, error?.cause], [404, 'license_key_instance not found.']);
    }
  });

  test('sees a test purchase as one', async () => {
    const { licenseKey, license } = await service.issue();
    await service.pool.query('update licenses set is_test = true where id = $1', [license.id]);
    assert.equal((await validateLicense(licenseKey)).data?.license_key.test_mode, true);
  });

  const PROBLEMS = [
    { facts: { expires_at: new Date(TEST_START.getTime() - DAY_MS) }, status: 'expired' },
    { facts: { canceled_at: TEST_START }, status: 'expired' },
    { facts: { refunded_at: TEST_START }, status: 'disabled' },
    { facts: { revoked_at: TEST_START }, status: 'disabled' },
    { facts: { suspended_at: TEST_START }, status: 'disabled' },
    { facts: { paused_at: TEST_START }, status: 'disabled' },
  ];
  for (const { facts, status } of PROBLEMS) {
    test(`is refused a license with ${Object.keys(facts).join()} as ${status}`, async () => {
      const { licenseKey } = await service.issue({ facts });
      for (const { statusCode, error, data } of [
        await activateLicense(licenseKey, 'Studio-PC'),
        await validateLicense(licenseKey),
      ]) {
        assert.deepEqual([statusCode, error?.cause], [400, `This license key is ${status}.`]);
        assert.equal(data?.license_key.status, status);
      }
    });
  }
});

describe('an imported license', () => {
  const KEY = '38b1460a-5104-4067-a91d-77b872934d5';
  const SOLD = new Date('2024-05-06T07:08:09Z');

  /** Imports a license for two machines that was activated on some. */
  async function importLicense(digit: number, machines = 2) {
    const instanceIds = [randomUUID(), randomUUID()].slice(0, machines);
    const devices = instanceIds.map((id, index) => ({
      id,
      label: `PC ${index}`,
      lastSeenAt: null,
    }));
    const licenseKey = `${KEY}${digit}`;
    const details = { order_id: '7', order_item_id: '8', customer_id: '9', product_name: 'Old' };
    await runImport(
      service.context,
      [foreign({ licenseKey, devices, details, sourceId: licenseKey, createdAt: SOLD })],
      {
        source: 'lemonsqueezy',
      },
    );
    return { licenseKey, instanceIds };
  }

  test('continues on the machines of the time before, with the ids of its order', async () => {
    const { licenseKey, instanceIds } = await importLicense(1);
    const [first = ''] = instanceIds;
    const { statusCode, data } = await validateLicense(licenseKey, first);
    assert.deepEqual([statusCode, data?.valid], [200, true]);
    assert.deepEqual([data?.instance?.id, data?.instance?.name], [first, 'PC 0']);
    const { order_id, order_item_id, customer_id } = data?.meta ?? {};
    assert.deepEqual([order_id, order_item_id, customer_id], [7, 8, 9]);
    assert.equal(data?.license_key.activation_usage, 2);
    assert.equal(data?.license_key.created_at, '2024-05-06T07:08:09.000000Z');
  });

  test('loses the machine that was not used for longest to a new one', async () => {
    const { licenseKey, instanceIds } = await importLicense(2);
    const [used = '', unused = ''] = instanceIds;
    await validateLicense(licenseKey, used);
    await activate(service, licenseKey, anyMachine());
    assert.equal((await validateLicense(licenseKey, used)).statusCode, 200);
    const lost = await validateLicense(licenseKey, unused);
    assert.deepEqual([lost.statusCode, lost.data?.license_key.activation_usage], [404, 2]);
  });

  test('keeps the machines of the time before while it has room for another one', async () => {
    const { licenseKey, instanceIds } = await importLicense(4, 1);
    const [old = ''] = instanceIds;
    const { data } = await activateLicense(licenseKey, 'a second one');
    assert.deepEqual([data?.activated, data?.license_key.activation_usage], [true, 2]);
    assert.equal((await validateLicense(licenseKey, old)).statusCode, 200);
    assert.equal((await activateLicense(licenseKey, 'a third one')).statusCode, 200);
    assert.equal((await validateLicense(licenseKey, old)).statusCode, 404);
  });

  test('is deactivated on a machine of the time before', async () => {
    const { licenseKey, instanceIds } = await importLicense(3);
    const [first = ''] = instanceIds;
    const { statusCode, data } = await deactivateLicense(licenseKey, first);
    assert.deepEqual([statusCode, data?.license_key.activation_usage], [200, 1]);
    assert.equal((await deactivateLicense(licenseKey, first)).statusCode, 404);
    assert.equal((await validateLicense(licenseKey, first)).statusCode, 404);
  });
});

describe('the interface of Lemon Squeezy', () => {
  const PATHS = ['activate', 'validate', 'deactivate'].map((name) => `/v1/licenses/${name}`);

  test('reads forms and JSON, and names a missing field', async () => {
    const { licenseKey } = await service.issue();
    const body = { license_key: licenseKey, instance_name: 7 };
    assert.equal((await service.post('/v1/licenses/activate', body)).status, 200);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const form = new URLSearchParams({ license_key: licenseKey }).toString();
    assert.equal((await service.post('/v1/licenses/validate', form, headers)).status, 200);
    const message = 'The instance name field is required.';
    const missing = await service.post('/v1/licenses/activate', form, headers);
    assert.equal(missing.status, 422);
    assert.deepEqual(missing.body, {
      activated: false,
      error: message,
      message,
      errors: { instance_name: [message] },
    });
    for (const path of PATHS) assert.equal((await service.post(path, {})).status, 422);
  });

  test('limits guesses in the words that programs read', async () => {
    const headers = { 'x-forwarded-for': anyAddress() };
    const guess = () => service.post('/v1/licenses/validate', { license_key: 'guess' }, headers);
    let answer = await guess();
    for (let count = 0; count < 10; count += 1) answer = await guess();
    assert.equal(answer.status, 429);
    assert.deepEqual(Object.keys(Object(answer.body)), ['valid', 'error']);
    assert.ok(Number(answer.headers.get('retry-after')) > 0);
  });

  test('does not exist while no product offers it, and not for other products', async () => {
    const other = await service.issue({ productId: 'yearly' });
    const { statusCode, error } = await validateLicense(other.licenseKey);
    assert.deepEqual([statusCode, error?.cause], [404, 'license_key not found.']);
    service.useCatalog(testCatalog());
    for (const path of PATHS) {
      const answer = await service.post(path, { license_key: other.licenseKey });
      assert.equal(answer.status, 404);
      assert.match(answer.headers.get('content-type') ?? '', /problem/);
    }
    service.useCatalog(OFFERED);
  });

  test('shows the customer only if the catalogue says so', async () => {
    const { licenseKey } = await service.issue(OWNER);
    service.useCatalog(catalogWith(`{ lemonsqueezy: ${JSON.stringify(IDS)} }`));
    const { data } = await validateLicense(licenseKey);
    assert.deepEqual([data?.meta.customer_name, data?.meta.customer_email], ['', '']);
    service.useCatalog(OFFERED);
  });
});
