import assert from 'node:assert/strict';
import { test } from 'node:test';

import { parseCatalog } from './catalog.ts';
import { findPriceWarnings } from './price-ids.ts';

function warn(prices: string, more = ''): string[] {
  const text = `key_prefix: LK
trial: { product: app, features: [] }
products:
  - { id: app, name: App, tier: a, features: [], max_activations: 1, prices: { ${prices} }${more} }
`;
  return findPriceWarnings(parseCatalog(text, 'catalog.yaml'));
}

test('accepts the ids of prices, and any id of an own shop', () => {
  const prices =
    "paddle: [pri_1], stripe: [price_1, plan_1, gold], lemonsqueezy: ['1', 'once:2'], standard: [pro_1]";
  assert.deepEqual(warn(prices), []);
});

test('names what a wrong id is', () => {
  const [product, paddle, , variant] = [
    ...warn('paddle: [pro_1]'),
    ...warn('stripe: [pri_1, prod_1]'),
    ...warn('lemonsqueezy: [once]'),
  ];
  assert.equal(
    product,
    "The product app has the paddle price pro_1, which is a product of Paddle: a price's id begins with pri_.",
  );
  assert.match(paddle ?? '', /the stripe price pri_1, which is a price of Paddle/);
  assert.match(variant ?? '', /the lemonsqueezy price once, which is no price: it is the number/);
});

test('hints at a variant of a subscription in a product with a term', () => {
  assert.match(warn("lemonsqueezy: ['401']", ', duration_days: 365')[0] ?? '', /write once:401/);
});
