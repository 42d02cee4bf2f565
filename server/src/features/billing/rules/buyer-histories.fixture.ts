import { PERSONAL, type BuyerHistory } from './buyer-history.fixture.ts';
import {
  adjustment,
  began,
  checkout,
  line,
  month,
  monthly,
  payment,
  PRICES,
  renewal,
  snapshot,
} from './facts.fixture.ts';

const SELLERS = { ...PERSONAL, productId: 'sellers', machines: 10 };
const yearly = [monthly(PRICES.sellers, { cycle: { interval: 'year', frequency: 1 } })];
const year = { startsAt: month(3, 5), endsAt: month(15, 5) };

const start = [checkout({ subscriptionId: 'sub_1' }), began()];
const upgrade = payment({
  transactionId: 'txn_u',
  subscriptionId: 'sub_1',
  origin: 'change',
  occurredAt: month(3, 5),
  period: year,
  lines: yearly,
  total: 9_000,
});
const upgraded = snapshot(month(3, 6), 'active', null, { period: year, lines: yearly });
const both = [line(PRICES.personal, { lineId: 'a' }), line(PRICES.sellers, { lineId: 'b' })];
const twoPeriods = [
  monthly(PRICES.personal, { lineId: 'a', period: { startsAt: month(3), endsAt: month(4) } }),
  monthly(PRICES.sellers, { lineId: 'b', period: { startsAt: month(3), endsAt: month(15) } }),
];

/** Histories of changes, trials and catalogues. */
export const buyerHistories: readonly BuyerHistory[] = [
  {
    name: 'I upgraded to a year, was paid back, and keep the month that I paid',
    facts: [
      ...start,
      upgrade,
      upgraded,
      adjustment({ transactionId: 'txn_u', occurredAt: month(3, 8), total: 9_000 }),
    ],
    expected: { licenses: [{ ...SELLERS, expiresAt: month(4) }] },
  },
  {
    name: 'I changed from a year to a month, and the rest of the year was credited',
    facts: [
      checkout({ subscriptionId: 'sub_1', period: year, lines: yearly, occurredAt: month(3, 5) }),
      snapshot(month(3, 5), 'active', null, { period: year, lines: yearly }),
      payment({
        transactionId: 'txn_d',
        subscriptionId: 'sub_1',
        origin: 'change',
        occurredAt: month(4),
        period: { startsAt: month(4), endsAt: month(5) },
        lines: [monthly(PRICES.personal, { lineId: PRICES.sellers })],
        prorations: [
          {
            lineId: PRICES.sellers,
            priceId: PRICES.sellers,
            isCredit: true,
            period: { startsAt: month(4), endsAt: month(15, 5) },
          },
        ],
        total: 0,
      }),
      snapshot(month(4, 1), 'past_due', 4),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5) }] },
  },
  {
    name: 'My seller gave me two months by moving the billing date',
    facts: [
      ...start,
      snapshot(month(3, 9), 'active', null, {
        period: { startsAt: month(3), endsAt: month(6) },
      }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(6) }] },
  },
  {
    name: 'My seller moved the billing date back',
    facts: [
      checkout({ subscriptionId: 'sub_1', period: { startsAt: month(3), endsAt: month(9) } }),
      began({ period: { startsAt: month(3), endsAt: month(9) } }),
      snapshot(month(3, 9), 'active', 3),
      snapshot(month(4), 'past_due', 4),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(4) }] },
  },
  {
    name: 'I paid the invoice after my subscription was canceled',
    facts: [
      ...start,
      snapshot(month(4, 20), 'canceled', null),
      renewal(4, { occurredAt: month(4, 25) }),
    ],
    expected: {
      licenses: [{ ...PERSONAL, expiresAt: month(5), isCanceled: true }],
      cause: /paid after the subscription was canceled/,
    },
  },
  {
    name: 'I never paid after my trial',
    facts: [
      checkout({
        subscriptionId: 'sub_1',
        total: 0,
        period: { startsAt: month(3), endsAt: month(3, 14) },
      }),
      snapshot(month(3), 'trialing', null, {
        transactionId: 'txn_1',
        period: { startsAt: month(3), endsAt: month(3, 14) },
      }),
      snapshot(month(3, 14), 'past_due', 3),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(3, 14), hasGrace: false }] },
  },
  {
    name: 'I subscribed before the shop used Latchkey, and paid my renewal',
    facts: [snapshot(month(4), 'active', 4), renewal(4)],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5) }] },
  },
  {
    name: 'I paid a renewal, and nobody knows what it renews',
    facts: [renewal(4, { lines: [] })],
    expected: { cause: /it names no price, and its subscription is not known yet/ },
  },
  {
    name: 'I bought two things, and one of them is missing in the catalogue',
    facts: [payment({ lines: [line(PRICES.personal), line(PRICES.unknown)], total: 2_000 })],
    expected: {
      licenses: [{ ...PERSONAL, expiresAt: null, hasGrace: false }],
      cause: /^No product of the catalogue has the price pri_01z/,
    },
  },
  {
    name: 'I changed to something that is missing in the catalogue, and keep what I had',
    facts: [
      ...start,
      snapshot(month(3, 9), 'active', 3, { lines: [monthly(PRICES.unknown, { quantity: 4 })] }),
    ],
    expected: {
      licenses: [PERSONAL],
      cause: /^No product of the catalogue has the price pri_01z/,
    },
  },
  {
    name: 'My shop sent my renewal with the id of my first order',
    facts: [...start, renewal(4, { transactionId: 'txn_1', occurredAt: month(4) })],
    expected: { licenses: [PERSONAL], cause: /was reported before as another payment/ },
  },
  {
    name: 'One of my two products is paid for a year, the other for a month',
    facts: [
      checkout({ subscriptionId: 'sub_1', lines: twoPeriods, total: 9_000 }),
      snapshot(month(3), 'active', 3, { transactionId: 'txn_1', lines: twoPeriods }),
      snapshot(month(4, 1), 'past_due', 4, {
        lines: twoPeriods.map(({ period: _period, ...each }) => each),
      }),
    ],
    expected: {
      licenses: [PERSONAL, { ...SELLERS, expiresAt: month(15) }],
    },
  },
  {
    name: 'I disputed one of the two products in my cart',
    facts: [
      payment({ lines: both, total: 2_000 }),
      adjustment({
        effect: 'chargeback',
        full: false,
        lines: [{ lineId: 'b', full: true, total: 1_000 }],
      }),
    ],
    expected: {
      licenses: [
        { ...PERSONAL, expiresAt: null, hasGrace: false },
        { ...SELLERS, expiresAt: null, hasGrace: false, isDisputed: true },
      ],
    },
  },
  {
    name: 'I reduced my seats to none',
    facts: [
      ...start,
      snapshot(month(3, 9), 'active', 3, { lines: [monthly(PRICES.personal, { quantity: 0 })] }),
    ],
    expected: { licenses: [{ ...PERSONAL, isCanceled: true }] },
  },
  {
    name: 'The provider sent a period that ends before it starts',
    facts: [...start, renewal(4, { period: { startsAt: month(5), endsAt: month(4) } })],
    expected: { licenses: [PERSONAL], cause: /the paid period ends before it starts/ },
  },
];
