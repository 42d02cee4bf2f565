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
  const prices = `paddle: [pri_1], stripe: [price_1, plan_1, gold], lemonsqueezy: ['1', 'once:2'],
    polar: [d8dd2de1-21b7-4a41-8bc3-ce909c0cfe23], dodo: [pdt_1], creem: [prod_1],
    fastspring: [example-studio], gumroad: ['SDGgCnivv6gTTHfVRfUBxQ==', 'SDGgCnivv6gTTHfVRfUBxQ==:Pro%20plan'], standard: [pro_1]`;
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

test('names an id of the same provider first, else each provider that has such ids', () => {
  const kinds: readonly (readonly [string, string])[] = [
    ['creem: [pprice_1]', 'a price of Creem'],
    ['dodo: [pay_1]', 'a payment of Dodo Payments'],
    ['dodo: [adn_1]', 'an add-on of Dodo Payments'],
    ['stripe: [prod_1]', 'a product of Stripe'],
    ['paddle: [prod_1]', 'a product of Stripe or Creem'],
    ['dodo: [sub_1]', 'a subscription of Dodo Payments'],
    ['polar: [polar_cl_1]', 'a checkout link of Polar'],
    ['polar: [price_1]', 'a price of Stripe'],
  ];
  for (const [prices, kind] of kinds)
    assert.match(warn(prices)[0] ?? '', new RegExp(`is ${kind}:`));
  assert.match(
    warn('fastspring: [Example_Studio]')[0] ?? '',
    /is no price: it is a product's path/,
  );
  assert.match(
    warn("gumroad: ['https://a.gumroad.com/l/x']")[0] ?? '',
    /is no price: it is a product's id, which ends with =/,
  );
  assert.match(warn("polar: ['1']")[0] ?? '', /is no price: it is the id of a product, a UUID/);
});

test('hints at a variant of a subscription in a product with a term', () => {
  assert.match(warn("lemonsqueezy: ['401']", ', duration_days: 365')[0] ?? '', /write once:401/);
});
