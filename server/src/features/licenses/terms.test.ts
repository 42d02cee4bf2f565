import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Client } from 'pg';

import { startTestService } from '../../../test/harness.ts';
import { readTermsOfAll } from './terms.ts';

const service = await startTestService();

test('products that left the catalogue cost one statement together, and their licenses keep what was sold', async (t) => {
  const { ctx, pool } = service;
  const yearly = await service.issue({ productId: 'yearly' });
  const another = await service.issue({ productId: 'yearly' });
  const personal = await service.issue({ productId: 'personal' });
  const catalog = ctx.catalog();
  const products = new Map([...catalog.products].filter(([id]) => id !== 'yearly'));
  const licenses = [yearly.license, null, personal.license, another.license, yearly.license];
  const query = t.mock.method(Client.prototype, 'query');
  const terms = await readTermsOfAll(pool, { ...catalog, products }, licenses);
  assert.equal(query.mock.callCount(), 1);
  const { tier, features } = yearly.license;
  const sold = { tier, features, offlineDays: 14 };
  assert.deepEqual(terms, [sold, null, terms[2], sold, sold]);
  assert.equal(terms[2]?.tier, personal.license.tier);
});

test('products of the catalogue cost no statement', async (t) => {
  const { license } = await service.issue();
  const query = t.mock.method(Client.prototype, 'query');
  const [terms] = await readTermsOfAll(service.pool, service.ctx.catalog(), [license, null]);
  assert.deepEqual([query.mock.callCount(), terms?.tier], [0, license.tier]);
});
