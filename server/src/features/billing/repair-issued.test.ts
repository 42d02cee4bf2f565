import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { TEST_START, DAY_MS } from '../../../test/test-clock.ts';
import { openRepairs, repairCatalog } from './repair-steps.fixture.ts';

const { fail, ownedBy, receive, repair, replay, show, soldBy } = openRepairs(
  await startTestService({ catalog: repairCatalog() }),
);

/** The period of a month of 2027. */
function month(number: number) {
  const [from, to] = [number, number + 1].map((each) => new Date(Date.UTC(2027, each, 1)));
  return { starts_at: from?.toISOString(), ends_at: to?.toISOString() };
}

/** Pays a month of a subscription whose beginning is unknown. */
function renew(id: string, subscription: string, price: string, number: number) {
  return receive(`${subscription}-${id}`, 'purchase.renewed', {
    transaction_id: `order-${subscription}-${id}`,
    subscription_id: subscription,
    customer: { id: `c-${subscription}`, email: `${subscription}@example.com` },
    lines: [{ price_id: price, cycle: { interval: 'month' } }],
    period: month(number),
    total: 4_900,
    currency: 'EUR',
  });
}

describe('a license issued from an event that cannot be read', () => {
  test('repairs an event that could not be read once its transaction and address are named, and follows its refund', async () => {
    await fail('broken');
    const issue = { kind: 'issue', productId: 'personal', quantity: 1 } as const;
    const email = 'ada@example.com';
    await assert.rejects(repair('broken', { ...issue, email }), /name its transaction/u);
    await assert.rejects(repair('broken', { kind: 'address', email }), /name its transaction/u);
    const named = { ...issue, transactionId: 'order-broken' };
    await assert.rejects(repair('broken', named), /name the address/u);
    assert.equal((await show('broken')).state, 'failed');
    await repair('broken', { ...named, email });
    const { state, licenses } = await show('broken');
    assert.deepEqual(
      [state, licenses.map((license) => [license.product, license.customer_email])],
      ['applied', [['personal', email]]],
    );
    const refund = { refund_id: 'refund-broken', transaction_id: 'order-broken', full: true };
    await receive('broken-back', 'payment.refunded', refund);
    const refunds = (await soldBy('broken')).map(({ refunded_at: refundedAt }) => refundedAt);
    assert.deepEqual(refunds, [TEST_START]);
    await assert.rejects(
      repair('broken', { ...named, transactionId: 'order-other' }),
      /names the transaction order-broken/u,
    );
  });

  test('from an unreadable payment of a subscription ends, and its renewal extends it', async () => {
    await fail('broken-sub');
    const named = {
      transactionId: 'order-broken-sub',
      subscriptionId: 'sub-broken',
      email: 'sub-broken@example.com',
    };
    const issue = { kind: 'issue', quantity: 1, ...named } as const;
    await assert.rejects(repair('broken-sub', { ...issue, productId: 'personal' }), /how long/u);
    await repair('broken-sub', { ...issue, productId: 'yearly' });
    const [issued] = await soldBy('broken-sub');
    assert.equal(issued?.expires_at?.getTime(), TEST_START.getTime() + 365 * DAY_MS);
    const starts = new Date(TEST_START.getTime() + 365 * DAY_MS);
    const ends = new Date(TEST_START.getTime() + 730 * DAY_MS);
    await receive('broken-sub-2', 'purchase.renewed', {
      transaction_id: 'order-broken-sub-2',
      subscription_id: 'sub-broken',
      customer: { id: 'c-broken-sub', email: 'sub-broken@example.com' },
      lines: [{ price_id: 'sellers', cycle: { interval: 'year' } }],
      period: { starts_at: starts.toISOString(), ends_at: ends.toISOString() },
      total: 4_900,
    });
    const licenses = (await ownedBy(named.email)).map((each) => [
      each.id,
      each.product_id,
      each.expires_at,
    ]);
    assert.deepEqual(licenses, [[issued?.id, 'sellers', ends]]);
  });
});

describe('a license issued from a payment of a subscription', () => {
  test('ends with the period that was paid, and a renewal extends it under the same key', async () => {
    await renew('1', 'sub-issued', 'nobody-knows', 2);
    await repair('sub-issued-1', { kind: 'issue', productId: 'personal', quantity: 1 });
    const [issued, ...none] = await ownedBy('sub-issued@example.com');
    assert.deepEqual([issued?.expires_at?.toISOString(), none], [month(2).ends_at, []]);
    await renew('2', 'sub-issued', 'personal', 3);
    await replay('sub-issued-1');
    const [renewed, ...others] = await ownedBy('sub-issued@example.com');
    assert.deepEqual(
      [renewed?.id, renewed?.expires_at?.toISOString(), others],
      [issued?.id, month(3).ends_at, []],
    );
  });

  test('is extended by the next one that an operator issues', async () => {
    await renew('1', 'sub-twice', 'nobody-knows', 2);
    await renew('2', 'sub-twice', 'nobody-knows', 3);
    await repair('sub-twice-1', { kind: 'issue', productId: 'personal', quantity: 1 });
    const [issued] = await ownedBy('sub-twice@example.com');
    await repair('sub-twice-2', { kind: 'issue', productId: 'personal', quantity: 1 });
    const ends = async () =>
      (await ownedBy('sub-twice@example.com')).map(({ id, expires_at: end }) => [
        id,
        end?.toISOString(),
      ]);
    assert.deepEqual(await ends(), [[issued?.id, month(3).ends_at]]);
    const refund = { refund_id: 'back-twice', transaction_id: 'order-sub-twice-2', full: true };
    await receive('sub-twice-back', 'payment.refunded', refund);
    assert.deepEqual(await ends(), [[issued?.id, month(2).ends_at]]);
  });

  test('adds its time to the license of the subscription, and its refund takes only that away', async () => {
    await renew('1', 'sub-known', 'personal', 2);
    const [license] = await ownedBy('sub-known@example.com');
    const wrong = { currency: 'JPY', period: month(3), subscription_id: 'sub-known' };
    const more = { ...wrong, lines: [{ price_id: 'personal', cycle: { interval: 'month' } }] };
    await receive('sub-known-2', 'purchase.renewed', {
      transaction_id: 'order-sub-known-2',
      customer: { id: 'c-sub-known', email: 'sub-known@example.com' },
      total: 4_900,
      ...more,
    });
    assert.equal((await show('sub-known-2')).state, 'unmatched');
    await repair('sub-known-2', { kind: 'issue', productId: 'personal', quantity: 1 });
    const ends = async () =>
      (await ownedBy('sub-known@example.com')).map(({ id, expires_at: end }) => [
        id,
        end?.toISOString(),
      ]);
    assert.deepEqual(await ends(), [[license?.id, month(3).ends_at]]);
    const refund = { refund_id: 'back-known', transaction_id: 'order-sub-known-2', full: true };
    await receive('sub-known-back', 'payment.refunded', refund);
    assert.deepEqual(await ends(), [[license?.id, month(2).ends_at]]);
  });
});
