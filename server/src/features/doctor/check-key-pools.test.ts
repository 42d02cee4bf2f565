import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { CATALOG, testCatalog } from '../../../test/test-catalog.ts';
import { addPoolKeys } from '../licenses/key-pool.ts';
import { checkKeyPools } from './check-key-pools.ts';

const directory = await mkdtemp(join(tmpdir(), 'latchkey-pools-'));
after(() => rm(directory, { recursive: true }));

async function writeCatalog(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

const POOLED = CATALOG.replace('tier: pro', 'tier: pro\n    keys: pool');
const [pooled, without, invalid] = await Promise.all([
  writeCatalog('pooled.yaml', POOLED),
  writeCatalog('without.yaml', CATALOG),
  writeCatalog('invalid.yaml', 'products: 5'),
]);
const catalog = testCatalog(POOLED);
const { context, pool } = await startTestService({ catalog });

async function add(count: number): Promise<void> {
  const product = catalog.products.get('yearly');
  assert.ok(product);
  const keys = Array.from({ length: count }, () => randomBytes(16).toString('hex'));
  await addPoolKeys(context, product, keys, { actor: 'test', reason: 'delivery' });
}

async function check(path = pooled) {
  const findings = await checkKeyPools(pool, path);
  return findings.map(({ status, code, symptom }) => [status, code ?? null, symptom ?? null]);
}

test('warns of fewer than 10 free keys, also of none, and only of products that take them', async () => {
  assert.deepEqual(await check(), [
    ['warning', 'key_pool.low', 'Pools with fewer than 10 free keys: yearly (0).'],
  ]);
  await add(9);
  assert.deepEqual(await check(), [
    ['warning', 'key_pool.low', 'Pools with fewer than 10 free keys: yearly (9).'],
  ]);
  assert.deepEqual(await check(without), []);
  assert.deepEqual(await check(invalid), []);
  await add(1);
  assert.deepEqual(
    (await check()).map(([status]) => status),
    ['ok'],
  );
});
