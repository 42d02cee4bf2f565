import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { LINKING_PAYMENT, type BillingFact } from '../../facts.ts';
import {
  adjustment,
  began,
  checkout,
  line,
  month,
  payment,
  renewal,
  snapshot,
} from '../facts.fixture.ts';
import { groupPurchases } from '../group-purchases.ts';
import { computeRevenue } from './compute-revenue.ts';
import { splitAmount } from './measures.ts';
import { summarizeRevenue, type RevenueSums } from './summarize-revenue.ts';

/** Lists what facts add to revenue, as `day product measures`. */
function list(
  facts: readonly BillingFact[],
  provider: 'paddle' | 'lemonsqueezy' | 'fastspring' = 'paddle',
): string[] {
  const entries = facts.flatMap((fact, index) =>
    fact.kind === 'customer' ? [] : [{ provider, eventId: `evt_${index}`, fact }],
  );
  return groupPurchases(entries)
    .flatMap((purchase) => computeRevenue(purchase, (priceId) => priceId))
    .map(({ day, productId, measures }) => `${day} ${productId} ${JSON.stringify(measures)}`);
}

function recurring(facts: readonly BillingFact[]): string[] {
  return list(facts).filter((each) => each.includes('mrr'));
}

const EUR = { currency: 'EUR', tax: 160, country: 'DE' } as const;

const MONTH = { interval: 'month', frequency: 1 } as const;
const MONTHLY_A = [line('a', { cycle: MONTH })];
const MONTHLY_B = [line('b', { cycle: MONTH })];

describe('money', () => {
  test('a cart is divided by the totals of its lines, to the last cent', () => {
    const lines = [line('a', { total: 333 }), line('b', { total: 667 })];
    assert.deepEqual(list([payment({ lines, ...EUR, fee: 51 })]), [
      '2027-03-01 a {"payments":1,"gross":333,"tax":53,"fees":17}',
      '2027-03-01 b {"payments":0,"gross":667,"tax":107,"fees":34}',
    ]);
  });

  test('refunds count in their month, with their part of the tax, up to what was paid', () => {
    const facts = [
      payment({ lines: [line('a')], ...EUR }),
      adjustment({ adjustmentId: 'one', full: false, total: 400, occurredAt: month(4) }),
      adjustment({ adjustmentId: 'rest', full: true, total: 900, occurredAt: month(5) }),
    ];
    assert.deepEqual(list(facts).slice(1), [
      '2027-04-01 a {"refunds":400,"refundedTax":64}',
      '2027-05-01 a {"refunds":600,"refundedTax":96}',
    ]);
  });

  test('a chargeback counts until it is reversed', () => {
    const dispute = adjustment({ effect: 'chargeback', full: null, total: 1_000 });
    const facts = [payment({ lines: [line('a')], ...EUR }), dispute];
    assert.deepEqual(list(facts).slice(1), ['2027-03-01 a {"disputes":1000,"disputedTax":160}']);
    const won = adjustment({ effect: 'chargeback_reverse', adjustmentId: 'won' });
    assert.equal(list([...facts, won]).length, 1);
  });

  test('a payment counts at its own time, not at that of a report that only links ids', () => {
    const occurredAt = new Date('2027-03-01T00:00:00.000Z');
    const paid = payment({ lines: [line('a')], ...EUR, occurredAt });
    const before = new Date(occurredAt.getTime() - 1_000);
    const link = { ...LINKING_PAYMENT, transactionId: paid.transactionId, occurredAt: before };
    for (const facts of [
      [paid, link],
      [link, paid],
    ]) {
      assert.deepEqual(list(facts), [
        '2027-03-01 a {"payments":1,"gross":1000,"tax":160,"fees":0}',
      ]);
    }
  });

  test('the first order of a subscription at Lemon Squeezy counts for its product, and recurs', () => {
    const order = payment({ lines: [line('once:7')], subscriptionId: 'sub_1', ...EUR });
    const started = snapshot(month(3), 'active', 3, { lines: [line('7', { cycle: MONTH })] });
    assert.deepEqual(list([order, started], 'lemonsqueezy'), [
      '2027-03-01 7 {"payments":1,"gross":1000,"tax":160,"fees":0}',
      '2027-03-01 7 {"mrrNew":840,"subscriptionsNew":1}',
      '2027-04-02 7 {"mrrLost":-840,"subscriptionsLost":1}',
    ]);
    const once = payment({ lines: [line('once:8')], ...EUR });
    assert.match(list([once], 'lemonsqueezy').join(), /^2027-03-01 once:8 /u);
  });

  test('a charge for a change counts for the product after it', () => {
    const charge = renewal(3, { origin: 'change', occurredAt: month(3, 9), lines: [], total: 400 });
    const facts = [
      checkout({ lines: MONTHLY_A, subscriptionId: 'sub_1', ...EUR }),
      snapshot(month(3), 'active', 3, { lines: MONTHLY_A }),
      charge,
      snapshot(new Date(month(3, 9).getTime() + 60_000), 'active', 3, { lines: MONTHLY_B }),
      snapshot(month(3, 20), 'active', 3, { lines: MONTHLY_A }),
    ];
    assert.ok(
      list(facts).some((each) => each.startsWith('2027-03-01 b {"payments":1,"gross":400')),
    );
  });

  test('a part of a split order counts its money, and what was refunded of its lines', () => {
    const [own, other] = [line('a', { total: 840 }), line('b', { total: 4_200 })];
    const split = payment({
      lines: [own],
      total: null,
      part: { total: 1_000, tax: 160 },
      currency: 'EUR',
    });
    const paid = '2027-03-01 a {"payments":1,"gross":1000,"tax":160,"fees":0}';
    const back = '2027-03-01 a {"refunds":1000,"refundedTax":160}';
    const listOf = (sold: (typeof own)[]) => {
      const lines = sold.map(({ lineId, total }) => ({ lineId, total, full: null }));
      const returned = adjustment({ full: null, total: 6_000, currency: 'EUR', lines });
      return list([split, returned], 'fastspring');
    };
    assert.deepEqual(listOf([other]), [paid]);
    assert.deepEqual(listOf([own, other]), [paid, back]);
    assert.deepEqual(listOf([{ ...own, total: 420 }]), [
      paid,
      '2027-03-01 a {"refunds":500,"refundedTax":80}',
    ]);
  });

  test('an invoice of a checkout that counts is not counted again', () => {
    const sold = payment({ lines: [line('a')], aliases: ['in_1'], ...EUR });
    const invoice = payment({ transactionId: 'in_1', origin: 'other', lines: [line('a')], ...EUR });
    assert.equal(list([sold, invoice]).length, 1);
    assert.equal(list([invoice]).length, 1);
  });
});

describe('recurring revenue', () => {
  const price = 'a';
  const monthly = (total: number) => [
    line(price, { cycle: { interval: 'month', frequency: 1 }, total }),
  ];

  test('begins, changes and ends by the paid periods, without tax', () => {
    const facts = [
      checkout({ lines: monthly(1_000), ...EUR }),
      began(),
      renewal(4, { lines: monthly(1_000), ...EUR }),
      renewal(5, { lines: monthly(1_500), total: 1_500, ...EUR }),
      renewal(6, { lines: monthly(500), total: 500, ...EUR }),
    ];
    assert.deepEqual(recurring(facts), [
      '2027-03-01 a {"mrrNew":840,"subscriptionsNew":1}',
      '2027-05-01 a {"mrrExpansion":500}',
      '2027-06-01 a {"mrrContraction":-1000}',
      '2027-07-02 a {"mrrLost":-340,"subscriptionsLost":1}',
    ]);
  });

  test('of a year is a twelfth for each month, and ends with a cancellation', () => {
    const yearly = [line(price, { cycle: { interval: 'year', frequency: 1 }, total: 12_000 })];
    const facts = [
      checkout({ lines: yearly, total: 12_000, currency: 'EUR' }),
      began({ lines: yearly, period: null }),
      snapshot(month(6), 'canceled', null, { lines: yearly }),
    ];
    assert.deepEqual(recurring(facts), [
      '2027-03-01 a {"mrrNew":1000,"subscriptionsNew":1}',
      '2027-06-02 a {"mrrLost":-1000,"subscriptionsLost":1}',
    ]);
  });

  test('is lost in a gap and reactivated after it', () => {
    const facts = [
      checkout({ lines: monthly(1_000), subscriptionId: 'sub_1' }),
      renewal(6, { lines: monthly(1_000) }),
    ];
    assert.deepEqual(recurring(facts), [
      '2027-03-01 a {"mrrNew":1000,"subscriptionsNew":1}',
      '2027-04-02 a {"mrrLost":-1000,"subscriptionsLost":1}',
      '2027-06-01 a {"mrrReactivated":1000,"subscriptionsReactivated":1}',
      '2027-07-02 a {"mrrLost":-1000,"subscriptionsLost":1}',
    ]);
  });
});

test('splitAmount gives away every cent', () => {
  assert.deepEqual(splitAmount(100, [1, 1, 1]), [33, 34, 33]);
  assert.deepEqual(splitAmount(5, [0, 0]), [3, 2]);
});

describe('summarizeRevenue', () => {
  const none = {
    productId: '',
    country: '',
    payments: 0,
    gross: 0,
    tax: 0,
    fees: 0,
    refunds: 0,
    refundedTax: 0,
    disputes: 0,
    disputedTax: 0,
    mrrNew: 0,
    mrrExpansion: 0,
    mrrContraction: 0,
    mrrLost: 0,
    mrrReactivated: 0,
    subscriptionsNew: 0,
    subscriptionsLost: 0,
    subscriptionsReactivated: 0,
  };
  const sums: RevenueSums[] = [
    {
      ...none,
      month: '2027-01',
      provider: 'stripe',
      currency: 'ISK',
      gross: 500_000,
      payments: 1,
      mrrNew: 100_000,
      subscriptionsNew: 1,
    },
    { ...none, month: '2027-01', provider: 'paddle', currency: 'ISK', gross: 5_000, payments: 1 },
    {
      ...none,
      month: '2027-03',
      provider: 'paddle',
      currency: 'EUR',
      gross: 1_190,
      tax: 190,
      refunds: 119,
      refundedTax: 19,
      payments: 1,
    },
  ];
  const read = (more: Partial<Parameters<typeof summarizeRevenue>[1]>) =>
    summarizeRevenue(sums, {
      by: new Set(['month']),
      from: '2027-01',
      to: '2027-03',
      conversion: null,
      ...more,
    }).map(({ month: of, currency, decimals, gross, net, mrr }) => [
      of,
      currency,
      decimals,
      gross,
      net,
      mrr,
    ]);

  test('adds amounts of one currency whatever their decimals, and never two currencies', () => {
    assert.deepEqual(read({}), [
      ['2027-01', 'ISK', 2, 1_000_000, 1_000_000, 100_000],
      ['2027-02', 'ISK', 2, 0, 0, 100_000],
      ['2027-03', 'EUR', 2, 1_190, 900, 0],
      ['2027-03', 'ISK', 2, 0, 0, 100_000],
    ]);
  });

  test('adds currencies with a stated rate', () => {
    const conversion = {
      currency: 'EUR',
      rates: new Map([
        ['ISK', 0.007],
        ['EUR', 1],
      ]),
    };
    assert.deepEqual(read({ conversion, by: new Set() }), [[null, 'EUR', 2, 8_190, 7_900, 700]]);
  });
});
