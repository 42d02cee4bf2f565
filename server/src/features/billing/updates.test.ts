import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { readBody, readItems, readList } from '../../../test/acceptance/bodies.ts';
import { startTestService } from '../../../test/harness.ts';
import { openBrowser } from '../../../test/operator-steps.ts';
import { openStandardShop } from '../../../test/payment-providers/standard-shop.ts';
import {
  paddleAdjustment,
  paddleId,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle, postPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { applyCatalogToSold } from './apply-catalog-to-sold.ts';
import { rollUpDueRevenue } from './roll-up-revenue.ts';
import { changeUpdates } from '../licenses/change-license.ts';

const [STUDIO, RENEWAL] = ['pri_01studio0000000000000000', 'pri_01renewal000000000000000'];

const TEXT = `
key_prefix: LK
trial: { product: studio }
products:
  - id: studio
    name: Studio
    tier: studio
    max_activations: 2
    updates_days: 365
    prices: { standard: [studio], paddle: [${STUDIO}] }
    updates_prices: { standard: [year, monthly], paddle: [${RENEWAL}] }
  - { id: plan, name: Plan, tier: plan, max_activations: 2, updates_days: 365, prices: { standard: [plan] } }
  - { id: forever, name: Forever, tier: forever, max_activations: 3, prices: { standard: [forever] } }
  - { id: team, name: Team, tier: team, max_activations: 4, updates_days: 365, prices: { standard: [team] }, updates_prices: { standard: [team-year] } }
`;
const service = await startTestService({ catalog: testCatalog(TEXT) });
const { context, pool, clock } = service;
const shop = openStandardShop(service);

const DAY_MS = 86_400_000;
const START = new Date('2027-03-01T12:00:00.000Z');
const later = (days: number): Date => new Date(START.getTime() + days * DAY_MS);

/** Events of the future are refused. */
const LAST_DAY = 2_000;
clock.set(later(LAST_DAY));

let transactions = 0;

interface Order {
  readonly transaction_id?: string;
  readonly [field: string]: unknown;
}

/** Sends a purchase of a buyer on a day, and returns the receipt. */
function buy(buyer: string, price: string, day: number, more: Order = {}) {
  transactions += 1;
  const data = {
    transaction_id: `order-${transactions}`,
    customer: { id: buyer, email: `${buyer}@example.com`, name: null, locale: null },
    lines: [{ price_id: price }],
    total: 1_000,
    ...more,
  };
  return shop.send('purchase.completed', data, later(day));
}

const toDays = (date: Date | null) =>
  date === null ? null : (date.getTime() - START.getTime()) / DAY_MS;

/** Returns the ends of updates and of licenses of a buyer, in days from the start; null: none. */
async function read(buyer: string): Promise<(number | null)[][]> {
  const { rows } = await pool.query<{ updates_until: Date | null; expires_at: Date | null }>(
    'select updates_until, expires_at from licenses where customer_email = $1 order by id',
    [`${buyer}@example.com`],
  );
  return rows.map((row) => [toDays(row.updates_until), toDays(row.expires_at)]);
}

describe('a purchase of updates', () => {
  test('comes with the license, and a renewal adds to its end', async () => {
    await buy('ann', 'studio', 0);
    assert.deepEqual(await read('ann'), [[365, null]]);
    const receipt = await buy('ann', 'year', 200);
    assert.deepEqual([receipt.status, receipt.message], ['processed', null]);
    assert.deepEqual(await read('ann'), [[730, null]]);
  });

  test('is counted into revenue for its product', async () => {
    await buy('counted', 'studio', 0);
    await buy('counted', 'year', 100, { transaction_id: 'counted-year', currency: 'EUR' });
    await rollUpDueRevenue(context);
    const { rows } = await pool.query<{ entries: string }>(
      "select entries from billing_revenue where transaction_id = 'counted-year'",
    );
    assert.match(
      rows[0]?.entries ?? '',
      /"day":"2027-06-01","productId":"studio","measures":\{"payments":1,/u,
    );
  });

  test('is listed with its license, and its license and the timeline with it', async () => {
    await buy('seen', 'studio', 0, { transaction_id: 'seen-license' });
    await buy('seen', 'year', 10, { transaction_id: 'seen-year' });
    const { rows } = await pool.query<{ id: string; event_id: string }>(
      `select l.id, p.event_id from licenses l, billing_payments p
       where l.customer_email = 'seen@example.com' and p.transaction_id = 'seen-year'`,
    );
    const [{ id, event_id: renewal } = { id: '', event_id: '' }] = rows;
    const viewer = await openBrowser(service, 'viewer');
    const show = async (path: string) => (await viewer.get(`/api/v1/admin/${path}`)).body;
    const listed = readItems(await show(`payment-events?license_id=${id}`));
    assert.equal(listed.length, 2);
    assert.ok(listed.some(({ event_id: eventId }) => eventId === renewal));
    const shown = readBody(await show(`payment-events/standard/${renewal}`));
    assert.deepEqual(
      readList(shown['licenses']).map((license) => license['license_id']),
      [id],
    );
    const timeline = readItems(await show(`licenses/${id}/timeline?kind=payment`));
    assert.equal(timeline.length, 2);
  });

  test('begins with its payment if the updates ended before', async () => {
    await buy('late', 'studio', 0);
    await buy('late', 'year', 500);
    assert.deepEqual(await read('late'), [[865, null]]);
  });

  test('is taken back by its refund, and the license stays', async () => {
    await buy('refunded', 'studio', 0);
    await buy('refunded', 'year', 10, { transaction_id: 'refunded-year' });
    const refund = { refund_id: 'refund-1', transaction_id: 'refunded-year', full: true };
    await shop.send('payment.refunded', refund, later(20));
    assert.deepEqual(await read('refunded'), [[365, null]]);
    const { rows } = await pool.query(
      "select refunded_at from licenses where customer_email = 'refunded@example.com'",
    );
    assert.deepEqual(rows, [{ refunded_at: null }]);
  });

  test('may arrive before the license that it renews', async () => {
    const receipt = await buy('early', 'year', 200);
    assert.match(receipt.message ?? '', /renews the updates of a license/u);
    await buy('early', 'studio', 0);
    assert.deepEqual(await read('early'), [[730, null]]);
    const { rows } = await pool.query(
      "select count(*)::int as open from billing_events where message like 'Needs attention: %'",
    );
    assert.deepEqual(rows, [{ open: 0 }]);
  });

  test('is for the license of the same checkout', async () => {
    const lines = [{ price_id: 'studio' }, { price_id: 'year' }];
    await buy('both', 'studio', 0, { lines });
    assert.deepEqual(await read('both'), [[730, null]]);
  });

  test('needs attention if the buyer has several licenses, and none gets its days', async () => {
    await buy('two', 'studio', 0);
    await buy('two', 'studio', 1);
    const receipt = await buy('two', 'year', 2);
    assert.match(receipt.message ?? '', /has none of the product, or several/u);
    assert.deepEqual(await read('two'), [
      [365, null],
      [366, null],
    ]);
  });

  test('is for the license that the checkout names, if it is one of the product', async () => {
    await buy('named', 'studio', 0);
    await buy('named', 'studio', 1);
    const { rows } = await pool.query<{ id: string }>(
      "select id from licenses where customer_email = 'named@example.com' order by id",
    );
    const name = { custom_data: { license_id: rows[1]?.id } };
    assert.equal((await buy('named', 'year', 2, name)).message, null);
    assert.deepEqual(await read('named'), [
      [365, null],
      [731, null],
    ]);
    const other = await buy('other', 'year', 2, name);
    assert.match(other.message ?? '', /renews a license of another customer/u);
  });

  test('is also a second purchase of the product that names the license', async () => {
    await buy('again', 'studio', 0);
    const { rows } = await pool.query<{ id: string }>(
      "select id from licenses where customer_email = 'again@example.com'",
    );
    const name = { transaction_id: 'again-2', custom_data: { license_id: rows[0]?.id } };
    assert.equal((await buy('again', 'studio', 100, name)).message, null);
    assert.deepEqual(await read('again'), [[730, null]]);
    const refund = { refund_id: 'refund-again', transaction_id: 'again-2', full: true };
    await shop.send('payment.refunded', refund, later(110));
    assert.deepEqual(await read('again'), [[365, null]]);
  });

  test('keeps its days when the catalogue has others or lost the price', async () => {
    await buy('sold', 'studio', 0);
    await buy('sold', 'year', 1, { transaction_id: 'sold-year' });
    const changed = TEXT.replaceAll('365', '30').replace('year, monthly', 'monthly');
    service.useCatalog(testCatalog(changed));
    const receipt = await shop.send('customer.updated', { id: 'sold', email: 'sold@example.com' });
    assert.equal(receipt.message, null);
    await buy('sold', 'plan', 3);
    assert.deepEqual((await read('sold'))[0], [730, null]);
    service.useCatalog(testCatalog(TEXT));
  });
});

const period = (from: number, to: number) => ({
  starts_at: later(from).toISOString(),
  ends_at: later(to).toISOString(),
});

describe('a subscription', () => {
  const cycle = { interval: 'month' };

  test('for updates moves their end with its payments, and leaves the license at its end', async () => {
    await buy('fallback', 'studio', 0);
    const lines = [{ price_id: 'monthly', cycle }];
    const of = { subscription_id: 'sub-updates', lines };
    await buy('fallback', '', 340, { ...of, period: period(340, 371) });
    assert.deepEqual(await read('fallback'), [[371, null]]);
    const renewal = { ...of, transaction_id: 'fallback-2', total: 100, period: period(371, 402) };
    await shop.send('purchase.renewed', renewal, later(371));
    assert.deepEqual(await read('fallback'), [[402, null]]);
    await shop.send('subscription.canceled', { ...of, status: 'canceled' }, later(380));
    assert.deepEqual(await read('fallback'), [[402, null]]);
    const { rows } = await pool.query(
      "select canceled_at from licenses where customer_email = 'fallback@example.com'",
    );
    assert.deepEqual(rows, [{ canceled_at: null }]);
  });

  test('of the product has updates as long as it is paid', async () => {
    const lines = [{ price_id: 'plan', cycle }];
    const of = { subscription_id: 'sub-plan', lines };
    await buy('plan', '', 0, { ...of, period: period(0, 31) });
    assert.deepEqual(await read('plan'), [[31, 31]]);
  });
});

/** Refunds an order on day 30. */
const back = (id: string) =>
  shop.send(
    'payment.refunded',
    { refund_id: `back-${id}`, transaction_id: id, full: true },
    later(30),
  );

/** Returns an order that names the license of a buyer. */
const named = async (buyer: string, id: string) => {
  const { rows } = await pool.query<{ id: string }>(
    'select id from licenses where customer_email = $1',
    [`${buyer}@example.com`],
  );
  return { transaction_id: id, custom_data: { license_id: rows[0]?.id } };
};

describe('an upgrade of a license that a purchase names', () => {
  test('to a product with updates for a year has them for a year, and its refund takes the limit back', async () => {
    await buy('upgrade', 'forever', 0);
    const receipt = await buy('upgrade', 'team', 20, await named('upgrade', 'upgraded'));
    assert.deepEqual([receipt.message, await read('upgrade')], [null, [[385, null]]]);
    await back('upgraded');
    assert.deepEqual(await read('upgrade'), [[null, null]]);
  });

  test('to a product with all updates has all, until it is refunded', async () => {
    await buy('all', 'studio', 0);
    const receipt = await buy('all', 'forever', 20, await named('all', 'all-updates'));
    assert.deepEqual([receipt.message, await read('all')], [null, [[null, null]]]);
    await back('all-updates');
    assert.deepEqual(await read('all'), [[365, null]]);
  });
});

/** Returns what the event of a transaction says; empty: nothing. */
async function readMessage(id: string): Promise<string> {
  const { rows } = await pool.query<{ message: string | null }>(
    `select message from billing_events join billing_payments using (provider, event_id)
     where transaction_id = $1`,
    [id],
  );
  return rows[0]?.message ?? '';
}

test('a renewal that fits only while the license is upgraded needs attention after the refund of the upgrade', async () => {
  await buy('fits', 'forever', 0);
  await buy('fits', 'team', 20, await named('fits', 'fits-upgraded'));
  const receipt = await buy('fits', 'team-year', 25, await named('fits', 'fits-renewed'));
  assert.deepEqual([receipt.message, await read('fits')], [null, [[750, null]]]);
  await back('fits-upgraded');
  assert.deepEqual(await read('fits'), [[null, null]]);
  assert.match(await readMessage('fits-renewed'), /Needs attention: .* gets all updates/u);
  await back('fits-renewed');
  assert.equal(await readMessage('fits-renewed'), '');
});

test('a renewal needs nobody because of an upgrade to all updates that came later', async () => {
  await buy('later', 'studio', 0);
  await buy('later', 'year', 10);
  const receipt = await buy('later', 'forever', 20, await named('later', 'later-upgraded'));
  assert.deepEqual([receipt.message, await read('later')], [null, [[null, null]]]);
  const { rows } = await pool.query(
    "select count(*)::int as open from billing_events where message like '%gets all updates%'",
  );
  assert.deepEqual(rows, [{ open: 0 }]);
});

test('a license that was sold with all updates keeps them', async () => {
  await buy('forever', 'forever', 0);
  assert.deepEqual(await read('forever'), [[null, null]]);
});

test('the catalogue applied to sold licenses changes their updates, both ways', async () => {
  await buy('applied', 'studio', 0);
  const change = { actor: 'test', reason: 'test', dryRun: false };
  const apply = (text: string) =>
    applyCatalogToSold({ ...context, catalog: () => testCatalog(text) }, change, () => {});
  await apply(TEXT.replace('updates_days: 365\n    prices', 'updates_days: 30\n    prices'));
  assert.deepEqual(await read('applied'), [[30, null]]);
  const unlimited = TEXT.replace('    updates_days: 365\n    prices', '    prices').replace(
    /\n {4}updates_prices.*/u,
    '',
  );
  await apply(unlimited);
  assert.deepEqual(await read('applied'), [[null, null]]);
  await apply(TEXT);
  assert.deepEqual(await read('applied'), [[365, null]]);
});

describe('a license without a purchase', () => {
  test('is issued with the days of its product, and a renewal adds to them', async () => {
    clock.set(later(40));
    const { license } = await service.issue({
      productId: 'studio',
      customerEmail: 'issued@example.com',
    });
    assert.equal(license.updatesUntil?.getTime(), later(405).getTime());
    await service.issue({
      productId: 'studio',
      updatesUntil: later(100),
      customerEmail: 'imported@example.com',
    });
    assert.deepEqual(await read('imported'), [[100, null]]);
    clock.set(later(50));
    await buy('imported', 'year', 50);
    assert.deepEqual(await read('imported'), [[465, null]]);
  });

  test('extends from the end that an operator sets', async () => {
    clock.set(later(60));
    await buy('manual', 'studio', 0);
    const { rows } = await pool.query<{ id: string }>(
      "select id from licenses where customer_email = 'manual@example.com'",
    );
    const change = { keyOrId: rows[0]?.id ?? '', actor: 'test', reason: 'agreed' };
    await changeUpdates(context, change, { until: later(1_000) });
    assert.deepEqual(await read('manual'), [[1_000, null]]);
    clock.set(later(900));
    await buy('manual', 'year', 900);
    assert.deepEqual(await read('manual'), [[1_365, null]]);
    await changeUpdates(context, change, { until: null });
    assert.deepEqual(await read('manual'), [[null, null]]);
  });
});

test('Paddle’s one-time purchase of updates renews the license of the customer, and its refund takes it back', async () => {
  const customerId = paddleId('ctm', 'updates');
  const [license, renewal] = [paddleId('txn', 'license'), paddleId('txn', 'renewal')];
  const bought = (transactionId: string, priceId: string, day: number) =>
    paddleTransactionCompleted({
      transactionId,
      customerId,
      subscriptionId: null,
      lines: [{ priceId }],
      occurredAt: later(day),
    });
  const readEnd = async () => {
    const { rows } = await pool.query<{ updates_until: Date }>(
      `select l.updates_until from licenses l join billing_licenses b on b.license_id = l.id
       where b.transaction_id = $1`,
      [license],
    );
    return ((rows[0]?.updates_until.getTime() ?? 0) - START.getTime()) / DAY_MS;
  };
  clock.set(later(LAST_DAY));
  await deliverPaddle(service, bought(license, STUDIO, 0));
  const { text } = await postPaddle(service, bought(renewal, RENEWAL, 100));
  assert.match(text, /"status":"processed","message":null/u);
  assert.equal(await readEnd(), 730);
  await deliverPaddle(
    service,
    paddleAdjustment('created', { transactionId: renewal, occurredAt: later(110) }),
  );
  assert.equal(await readEnd(), 365);
});
