import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';

import { LICENSES, listAudited } from '../admin-license-steps.ts';
import { startTestService, TEST_WEBHOOK_SECRETS } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { openStandardShop } from '../payment-providers/standard-shop.ts';
import {
  standardDelivery,
  standardPurchase,
  standardPurchaseData,
} from '../payment-providers/standard-webhooks-events.ts';
import { testCatalog } from '../test-catalog.ts';
import { readBody, readItems, validationErrorsOf } from './bodies.ts';

const POOLS = '/api/v1/admin/key-pools';
const TEST_SECRET = `whsec_${Buffer.from('the secret of a test shop, 1').toString('base64')}`;
const [STANDARD_SECRET = ''] = TEST_WEBHOOK_SECRETS.standard;

const catalog = testCatalog(`
key_prefix: LK
trial: { product: suite }
products:
  - { id: suite, name: Suite, tier: suite, max_activations: 2, keys: pool, prices: { standard: [suite] } }
  - { id: tool, name: Tool, tier: tool, max_activations: 1 }
`);
const service = await startTestService({
  catalog,
  webhooks: { standard: [STANDARD_SECRET, `test:${TEST_SECRET}`] },
});
const admin = await openBrowser(service, 'admin');
const viewer = await openBrowser(service, 'viewer');
const shop = openStandardShop(service);
const reason = 'delivery of May';

function makeKeys(count: number): string[] {
  return Array.from({ length: count }, () => randomBytes(16).toString('hex').toUpperCase());
}

function add(keys: readonly string[], product = 'suite') {
  return admin.post(`${POOLS}/add`, { product, keys, reason });
}

async function countKeys(product = 'suite') {
  const pools = readItems((await viewer.get(POOLS)).body);
  const pool = pools.find((each) => each['product_id'] === product);
  return pool === undefined ? null : [pool['free'], pool['taken'], pool['is_low']];
}

function buy(transactionId: string) {
  return shop.send('purchase.completed', standardPurchaseData(transactionId, ['suite']));
}

describe('pools of keys', () => {
  test('lists a product without keys, adds keys that no answer contains, and records it', async () => {
    assert.deepEqual(await countKeys(), [0, 0, true]);
    const keys = makeKeys(12);
    const added = await add([...keys, '1234', '', keys[0] ?? '']);
    assert.deepEqual(
      [added.status, added.body],
      [
        200,
        {
          added: 12,
          present: 0,
          refused: 1,
          problems: [{ line: 13, problem: 'The key can be guessed. Allow weak keys to add it.' }],
        },
      ],
    );
    assert.deepEqual(await countKeys(), [12, 0, false]);
    const again = await add(keys.slice(0, 2));
    assert.deepEqual(again.body, { added: 0, present: 2, refused: 0, problems: [] });
    const texts = [added.text, (await viewer.get(POOLS)).text, service.log.join('')].join('');
    assert.ok(keys.every((key) => !texts.includes(key)));
    assert.deepEqual(await listAudited(service, 'suite'), [
      { action: 'pool.add', actor: `operator:${admin.email}`, reason, details: { added: 12 } },
    ]);
  });

  test('removes free keys only', async () => {
    await buy('order-of-removal');
    const free = Number((await countKeys())?.[0]);
    const removed = await admin.post(`${POOLS}/remove`, { product: 'suite', reason: 'recalled' });
    assert.deepEqual([removed.status, removed.body], [200, { removed: free }]);
    assert.deepEqual(await countKeys(), [0, 1, true]);
  });

  test('rejects unknown products and too many keys', async () => {
    assert.deepEqual(validationErrorsOf((await add(makeKeys(1), 'gold')).body), [
      ['body.product', 'value_error'],
    ]);
    assert.equal((await add(Array.from({ length: 5_001 }, () => 'A'))).status, 422);
    assert.equal((await add(['A'.repeat(1_001)])).status, 422);
  });

  test('a license is not issued without a free key', async () => {
    for (const [path, more] of [
      [LICENSES, {}],
      [`${LICENSES}/batch`, { count: 2 }],
    ] as const) {
      const answer = await admin.post(path, { product: 'suite', ...more });
      assert.deepEqual(validationErrorsOf(answer.body), [['body.product', 'value_error']]);
    }
  });

  test('a replay after keys were added creates the license of a purchase', async () => {
    const receipt = await buy('order-before-keys');
    assert.match(receipt.message ?? '', /the pool of suite has no free key/u);
    const [key = ''] = makeKeys(1);
    await add([key]);
    const replayed = await admin.post('/api/v1/admin/payment-events/replay', {
      state: 'unmatched',
      reason: 'keys were added',
    });
    assert.equal(replayed.status, 200, replayed.text);
    assert.equal((await shop.check('order-before-keys'))[0]?.license_key, key);
    assert.equal((await countKeys())?.[0], 0);
  });

  test('a test purchase takes no key of the pool', async () => {
    await add(makeKeys(1));
    const before = await countKeys();
    const { body, headers } = standardDelivery(standardPurchase('order-of-a-test', ['suite']), {
      secret: TEST_SECRET,
      id: 'msg_test',
      at: service.clock.now(),
    });
    const answer = await service.post('/api/v1/webhooks/standard', body, headers);
    assert.deepEqual(
      [readBody(answer.body)['status'], readBody(answer.body)['message']],
      ['processed', null],
    );
    assert.match(String((await shop.check('order-of-a-test'))[0]?.license_key), /^LK-/u);
    assert.deepEqual(await countKeys(), before);
  });
});
