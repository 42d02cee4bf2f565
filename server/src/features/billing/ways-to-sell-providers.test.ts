import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService, TEST_WEBHOOK_SECRETS } from '../../../test/harness.ts';
import {
  lemonSqueezyDelivery,
  lemonSqueezyOrder,
} from '../../../test/payment-providers/lemon-squeezy-events.ts';
import {
  paddleId,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import {
  stripeCheckoutCompleted,
  stripeDelivery,
} from '../../../test/payment-providers/stripe-events.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { DAY_MS } from '../../../test/test-clock.ts';

/** The same goods at each provider. */
const PRICES = {
  year: { paddle: 'pri_01year00000000000000000000', stripe: 'price_year', lemonsqueezy: '11' },
  seat: { paddle: 'pri_01seat00000000000000000000', stripe: 'price_seat', lemonsqueezy: '12' },
  suite: { paddle: 'pri_01suite0000000000000000000', stripe: 'price_suite', lemonsqueezy: '13' },
} as const;

const listPrices = ({ paddle, stripe, lemonsqueezy }: (typeof PRICES)[keyof typeof PRICES]) =>
  `{ paddle: [${paddle}], stripe: [${stripe}], lemonsqueezy: ['once:${lemonsqueezy}'] }`;

const service = await startTestService({
  catalog: testCatalog(`
key_prefix: LK
trial: { product: year }
products:
  - { id: year, name: Year, tier: year, max_activations: 1, duration_days: 365, prices: ${listPrices(PRICES.year)} }
  - { id: seat, name: Seat, tier: seat, max_activations: 1, quantity: keys, prices: ${listPrices(PRICES.seat)} }
  - { id: server, name: Server, tier: server, max_activations: 1 }
bundles:
  - products: [year, server]
    prices: ${listPrices(PRICES.suite)}
`),
});
const { clock, pool } = service;

interface Order {
  readonly goods: keyof typeof PRICES;
  readonly quantity?: number;
  /** The id of the license that the custom data name. */
  readonly licenseId?: string;
}

let orders = 100;

/** Delivers the purchase of an order with the provider's signature, and returns the message of the response. */
const SHOPS = {
  async paddle({ goods, quantity = 1, licenseId }: Order) {
    const lines = [{ priceId: PRICES[goods].paddle, quantity }];
    const data = licenseId === undefined ? {} : { custom_data: { license_id: licenseId } };
    const transactionId = paddleId('txn');
    return deliverPaddle(
      service,
      paddleTransactionCompleted({
        transactionId,
        subscriptionId: null,
        customerId: paddleId('ctm'),
        lines,
        data,
      }),
    );
  },
  async stripe({ goods, quantity = 1, licenseId }: Order) {
    orders += 1;
    const event = stripeCheckoutCompleted({
      priceId: PRICES[goods].stripe,
      quantity,
      checkoutId: `cs_${orders}`,
      paymentIntentId: `pi_${orders}`,
      at: clock.now(),
      ...(licenseId === undefined ? {} : { object: { client_reference_id: licenseId } }),
    });
    const [secret = ''] = TEST_WEBHOOK_SECRETS.stripe;
    const { body, headers } = stripeDelivery(event, { secret, at: clock.now() });
    return service.post('/api/v1/webhooks/stripe', body, headers);
  },
  async lemonsqueezy({ goods, quantity = 1, licenseId }: Order) {
    orders += 1;
    const event = lemonSqueezyOrder('order_created', {
      orderId: orders,
      identifier: `104e18a2-d755-4d4b-80c4-a6c1dcbe1${orders}`,
      variantId: Number(PRICES[goods].lemonsqueezy),
      quantity,
      at: clock.now(),
      createdAt: clock.now(),
    });
    const named = licenseId === undefined ? {} : { custom_data: { license_id: licenseId } };
    const [secret = ''] = TEST_WEBHOOK_SECRETS.lemonsqueezy;
    const { body, headers } = lemonSqueezyDelivery(
      { ...event, meta: { ...event.meta, ...named } },
      { secret },
    );
    return service.post('/api/v1/webhooks/lemonsqueezy', body, headers);
  },
};

/** Buys, and returns the licenses that are new. */
async function buy(provider: keyof typeof SHOPS, order: Order) {
  clock.advance(60_000);
  const { rows: before } = await pool.query<{ id: string }>('select id from licenses');
  const answer = await SHOPS[provider](order);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(
    Object.entries(Object(answer.body)).filter(([name]) => name !== 'event_id'),
    [
      ['status', 'processed'],
      ['message', null],
    ],
  );
  const { rows } = await pool.query<{ id: string; product_id: string; expires_at: Date | null }>(
    'select id, product_id, expires_at from licenses where id <> all ($1) order by product_id',
    [before.map(({ id }) => id)],
  );
  return rows;
}

/** Buys, and returns the products of the licenses. */
async function listProducts(provider: keyof typeof SHOPS, order: Order) {
  return (await buy(provider, order)).map(({ product_id: id }) => id);
}

for (const provider of ['paddle', 'stripe', 'lemonsqueezy'] as const) {
  describe(provider, () => {
    test('renews the license that the checkout names, from its end', async () => {
      const [license] = await buy(provider, { goods: 'year' });
      assert.ok(license?.expires_at);
      assert.deepEqual(await buy(provider, { goods: 'year', licenseId: license.id }), []);
      const { rows } = await pool.query('select expires_at from licenses where id = $1', [
        license.id,
      ]);
      const end = new Date(license.expires_at.getTime() + 365 * DAY_MS);
      assert.deepEqual(rows, [{ expires_at: end }]);
    });

    test('sells a quantity as that many keys, and a bundle as its products', async () => {
      assert.deepEqual(await listProducts(provider, { goods: 'seat', quantity: 3 }), [
        'seat',
        'seat',
        'seat',
      ]);
      assert.deepEqual(await listProducts(provider, { goods: 'suite' }), ['server', 'year']);
    });
  });
}
