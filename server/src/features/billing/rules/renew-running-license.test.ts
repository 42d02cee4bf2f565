import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import type { PaymentFact } from '../facts.ts';
import { month, monthly, payment, PRICES, snapshot } from './facts.fixture.ts';
import { KEY, planInAnyOrder, toLine } from './renewals.fixture.ts';

const SELLERS = { productId: 'sellers', machines: 10, subscription: true };
const ownSellers = (more: Partial<PaymentFact> = {}) =>
  payment({ subscriptionId: 'sub_1', lines: [monthly(PRICES.sellers)], ...more });
const nextYear = (number: number, lines: PaymentFact['lines'], more: Partial<PaymentFact> = {}) =>
  payment({
    transactionId: 'txn_2',
    subscriptionId: 'sub_2',
    occurredAt: month(number, -9),
    period: { startsAt: month(number, -9), endsAt: month(number + 12) },
    renews: KEY,
    lines,
    ...more,
  });

describe('a purchase never makes a license that runs smaller', () => {
  const lines = [toLine('txn_1', 'recurring:0', false), toLine('txn_2', 'recurring:0', true)];
  const bySecond = { subscriptionId: 'sub_2', transactionId: 'txn_2' };
  const paid = snapshot(month(3), 'active', 3, {
    transactionId: 'txn_1',
    lines: [monthly(PRICES.sellers)],
  });

  test('whose subscription changes to a smaller product later', () => {
    const changed = snapshot(month(3, 25), 'active', 3, {
      ...bySecond,
      period: { startsAt: month(4, -9), endsAt: month(16) },
      lines: [monthly(PRICES.personal)],
    });
    const facts = [ownSellers(), paid, nextYear(4, [monthly(PRICES.sellers)]), changed];
    const { licenses, causes } = planInAnyOrder(facts, lines);
    assert.deepEqual(licenses, [{ ...SELLERS, expiresAt: month(4) }]);
    assert.match(causes.join(' '), /a smaller product than the license/);
  });

  test('whose subscription changes to fewer machines later', () => {
    const five = monthly(PRICES.sellers, { quantity: 5 });
    const facts = [
      ownSellers({ lines: [five] }),
      snapshot(month(3), 'active', 3, { transactionId: 'txn_1', lines: [five] }),
      nextYear(4, [five]),
      snapshot(month(3, 25), 'active', 3, {
        ...bySecond,
        period: { startsAt: month(4, -9), endsAt: month(16) },
        lines: [monthly(PRICES.sellers)],
      }),
    ];
    const { licenses, causes } = planInAnyOrder(facts, lines);
    assert.deepEqual(licenses, [{ ...SELLERS, machines: 50, expiresAt: month(16) }]);
    assert.match(causes.join(' '), /fewer machines/);
  });

  test('while its own subscription was changed to a larger product after the purchase', () => {
    const small = monthly(PRICES.personal);
    const facts = [
      ownSellers({ lines: [small] }),
      snapshot(month(3), 'active', 3, { transactionId: 'txn_1', lines: [small] }),
      nextYear(4, [small]),
      snapshot(month(4), 'active', 4, { lines: [monthly(PRICES.sellers)] }),
    ];
    const { licenses } = planInAnyOrder(facts, lines);
    assert.deepEqual(licenses, [{ ...SELLERS, expiresAt: month(5) }]);
  });

  test('but a subscription that changes after the license ended has what it pays', () => {
    const small = snapshot(month(5, 1), 'active', 4, {
      ...bySecond,
      period: { startsAt: month(5), endsAt: month(6) },
      lines: [monthly(PRICES.personal)],
    });
    const facts = [
      ownSellers(),
      paid,
      snapshot(month(3, 9), 'canceled', null),
      nextYear(5, [monthly(PRICES.sellers)]),
      small,
    ];
    const { licenses, causes } = planInAnyOrder(facts, lines);
    assert.deepEqual(licenses, [
      { productId: 'personal', machines: 2, expiresAt: month(6), subscription: true },
    ]);
    assert.deepEqual(causes, []);
  });
});
