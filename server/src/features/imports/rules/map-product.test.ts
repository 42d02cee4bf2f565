import assert from 'node:assert/strict';
import { test } from 'node:test';

import { testCatalog } from '../../../../test/test-catalog.ts';
import { findProduct, readMapping, suggestProduct } from './map-product.ts';

const catalog = testCatalog();
const variant = { id: '31', name: 'Widget Pro' };
const product = { id: '21', name: 'Widget' };

function find(
  pairs: readonly (readonly [string, string])[],
  more: Partial<Parameters<typeof findProduct>[0]> = {},
): string | undefined {
  const values = { products: [variant, product], prices: [], ...more };
  return findProduct(values, readMapping(pairs, catalog), catalog)?.id;
}

test('the most specific id or name that is mapped counts', () => {
  const everything = [
    ['21', 'personal'],
    ['Widget Pro', 'sellers'],
    ['*', 'yearly'],
  ] as const;
  assert.equal(find(everything), 'sellers');
  assert.equal(find([['21', 'personal']]), 'personal');
  assert.equal(find([['*', 'yearly']]), 'yearly');
  assert.equal(find([]), undefined);
});

test('a price of the catalogue and an equal id need no mapping, and a mapping precedes them', () => {
  const prices = [{ provider: 'stripe' as const, priceId: 'price_sellers' }];
  assert.equal(find([], { prices }), 'sellers');
  assert.equal(find([['21', 'personal']], { prices }), 'personal');
  assert.equal(find([], { products: [{ id: 'yearly', name: null }] }), 'yearly');
});

test('refuses products that do not exist and names that are mapped twice', () => {
  assert.throws(
    () => readMapping([['x', 'personel']], catalog),
    /"personel": personal was probably/u,
  );
  assert.throws(() => readMapping([['x', 'gold']], catalog), /it has personal, yearly, sellers/u);
  const twice = [
    ['x', 'personal'],
    ['x', 'sellers'],
  ] as const;
  assert.throws(() => readMapping(twice, catalog), /"x" is mapped twice/u);
});

test('suggests a product with a similar or contained name', () => {
  assert.equal(suggestProduct(['99', 'Personnal'], catalog), 'personal');
  assert.equal(suggestProduct(['99', 'My App – Sellers Edition'], catalog), 'sellers');
  assert.equal(suggestProduct(['99', 'Hat'], catalog), null);
});
