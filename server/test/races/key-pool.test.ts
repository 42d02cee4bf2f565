import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { addPoolKeys } from '#server/features/licenses/key-pool.ts';

import { startTestService } from '../harness.ts';
import { openStandardShop } from '../payment-providers/standard-shop.ts';
import { standardPurchaseData } from '../payment-providers/standard-webhooks-events.ts';
import { testCatalog } from '../test-catalog.ts';
import { roundRobin, runConcurrently, tally } from './concurrency.ts';

const catalog = testCatalog(`
key_prefix: LK
trial: { product: suite }
products:
  - { id: suite, name: Suite, tier: suite, max_activations: 2, keys: pool, prices: { standard: [suite] } }
`);
const one = await startTestService({ catalog });
const two = await startTestService({ catalog, beside: one });
const shopOf = roundRobin([openStandardShop(one, 'a'), openStandardShop(two, 'b')]);

const makeKeys = (count: number) =>
  Array.from({ length: count }, () => randomBytes(16).toString('hex').toUpperCase());

async function add(keys: readonly string[]): Promise<void> {
  const product = catalog.products.get('suite');
  assert.ok(product);
  await addPoolKeys(one.context, product, keys, { actor: 'test', reason: 'a race' });
}

const buy = (transactionId: string, index: number) =>
  shopOf(index).send(
    'purchase.completed',
    standardPurchaseData(transactionId, ['suite'], transactionId),
  );

test('two nodes that take the last key at once create one license, and the other purchase needs attention', async () => {
  for (let round = 0; round < 10; round += 1) {
    const keys = makeKeys(1);
    await add(keys);
    const receipts = await runConcurrently(2, (index) => buy(`last-${round}-${index}`, index));
    const isRefused = receipts.map(({ message }) => message?.includes('no free key') ?? false);
    assert.deepEqual(tally(isRefused.map(String)), { true: 1, false: 1 });
    const checked = await runConcurrently(2, (index) =>
      shopOf(index).check(`last-${round}-${index}`),
    );
    assert.deepEqual(
      checked.flat().map(({ license_key: key }) => key),
      keys,
    );
  }
});

test('30 purchases on two nodes take 20 keys, each once', async () => {
  const keys = makeKeys(20);
  await add(keys);
  await runConcurrently(30, (index) => buy(`many-${index}`, index));
  const checked = await runConcurrently(30, (index) => shopOf(index).check(`many-${index}`));
  const taken = checked.flat().map(({ license_key: key }) => String(key));
  assert.deepEqual(taken.toSorted(), keys.toSorted());
});
