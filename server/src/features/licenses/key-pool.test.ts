import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { startTestService, TEST_MASTER_SECRET } from '../../../test/harness.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { rotateMasterSecret } from '../master-secret/rotate-master-secret.ts';
import { addPoolKeys, removePoolKeys } from './key-pool.ts';
import { listKeyPools } from './queries/license-pool.ts';

const catalog = testCatalog(`
key_prefix: LK
trial: { product: suite }
products:
  - { id: suite, name: Suite, tier: suite, max_activations: 2, keys: pool, prices: { standard: [suite] } }
  - { id: race, name: Race, tier: race, max_activations: 1, keys: pool }
`);
const service = await startTestService({ catalog });
const { context, pool } = service;
const shop = openStandardShop(service);
const change = { actor: 'test', reason: 'delivery' };

function makeKeys(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(16).toString('hex').toUpperCase());
}

async function add(productId: string, keys: readonly string[]) {
  const product = catalog.products.get(productId);
  assert.ok(product);
  return addPoolKeys(context, product, keys, change);
}

function buy(transactionId: string) {
  return shop.send('purchase.completed', {
    transaction_id: transactionId,
    customer: { id: 'ann', email: 'ann@example.com', name: null, locale: null },
    lines: [{ price_id: 'suite' }],
    total: 1_000,
  });
}

async function countKeys(productId: string) {
  return (await listKeyPools(pool)).find((each) => each.productId === productId);
}

test('a purchase takes the oldest key, which activates; without a key it needs attention, until the purchase is computed again', async () => {
  const [first = '', second = ''] = makeKeys(2);
  assert.deepEqual(await add('suite', [first, '', first]), { added: 1, present: 0, problems: [] });
  const receipt = await buy('pool-1');
  assert.deepEqual([receipt.status, receipt.message], ['processed', null]);
  assert.equal((await shop.check('pool-1'))[0]?.license_key, first);
  const activated = await service.post('/api/v1/licenses/activate', {
    license_key: first,
    machine_fingerprint: { machine_id: 'a-machine' },
  });
  assert.equal(activated.status, 200);

  const empty = await buy('pool-2');
  assert.match(empty.message ?? '', /the pool of suite has no free key/u);
  assert.deepEqual(await add('suite', [first, second]), { added: 1, present: 1, problems: [] });
  await shop.send('payment.refunded', {
    refund_id: 'refund-0',
    transaction_id: 'pool-2',
    status: 'rejected',
    full: true,
  });
  assert.equal((await shop.check('pool-2'))[0]?.license_key, second);
});

test('a refund does not return the key', async () => {
  await add('suite', makeKeys(1));
  await buy('pool-refunded');
  const before = await countKeys('suite');
  await shop.send('payment.refunded', {
    refund_id: 'refund-1',
    transaction_id: 'pool-refunded',
    full: true,
  });
  assert.equal((await shop.check('pool-refunded'))[0]?.status, 'refunded');
  assert.deepEqual(await countKeys('suite'), before);
});

test('weak keys are refused, and only free keys are removed', async () => {
  const { added, problems } = await add('suite', ['1234', ...makeKeys(2)]);
  assert.deepEqual([added, problems.map(({ line }) => line)], [2, [1]]);
  const taken = (await countKeys('suite'))?.taken;
  assert.equal(await removePoolKeys(context, 'suite', null, change), 2);
  assert.deepEqual(await countKeys('suite').then((each) => [each?.free, each?.taken]), [0, taken]);
});

const issue = () => service.issue({ productId: 'race' }).catch(() => null);

test('concurrent licenses never get the same key, and as many as there are keys', async () => {
  assert.equal((await add('race', makeKeys(8))).added, 8);
  const issued = (await Promise.all(Array.from({ length: 12 }, issue))).flatMap(
    (each) => each?.licenseKey ?? [],
  );
  assert.equal(new Set(issued).size, 8);
  assert.equal(issued.length, 8);
});

test('free keys are rewritten by a rotation of the master secret, and then taken without the previous one', async () => {
  const masterSecret = 'another master secret, for after a leak';
  const keys = makeKeys(3);
  await removePoolKeys(context, 'suite', null, change);
  await add('suite', keys);
  const previousSecrets = [TEST_MASTER_SECRET];
  const next = await startTestService({ catalog, beside: service, masterSecret, previousSecrets });
  const product = catalog.products.get('suite');
  assert.ok(product);
  assert.deepEqual(await addPoolKeys(next.context, product, keys, change), {
    added: 0,
    present: 3,
    problems: [],
  });
  const { licenses } = await rotateMasterSecret(next.context, 'test', () => {});
  assert.equal(licenses.failed, 0);
  const { rows } = await pool.query(
    `select count(*)::integer as count from license_pool_keys
     where key_sealed is not null and substring(key_sealed from 2 for 3) <> decode($1, 'hex')`,
    [next.context.vault.secretId],
  );
  assert.deepEqual(rows, [{ count: 0 }]);
  const last = await startTestService({ catalog, beside: service, masterSecret });
  const { licenseKey } = await last.issue({ productId: 'suite' });
  assert.equal(licenseKey, keys[0]);
});
