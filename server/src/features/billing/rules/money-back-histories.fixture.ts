import { PERSONAL, type BuyerHistory } from './buyer-history.fixture.ts';
import {
  adjustment,
  began,
  checkout,
  month,
  monthly,
  payment,
  PRICES,
  renewal,
  snapshot,
} from './facts.fixture.ts';

const SELLERS = { ...PERSONAL, productId: 'sellers', machines: 10 };
const start = [checkout({ subscriptionId: 'sub_1' }), began()];
const two = [monthly(PRICES.personal, { lineId: 'a' }), monthly(PRICES.sellers, { lineId: 'b' })];
const fortnight = { startsAt: month(3), endsAt: month(3, 14) };
const trial = [
  checkout({ subscriptionId: 'sub_1', total: 0, period: fortnight }),
  snapshot(month(3), 'trialing', null, { transactionId: 'txn_1', period: fortnight }),
];
const afterTrial = { startsAt: month(3, 14), endsAt: month(4, 14) };

/** Lemon Squeezy's invoices have no period; its subscriptions report one. */
const reported = (from: number, occurredAt: Date) => [
  snapshot(occurredAt, 'active', from),
  payment({
    transactionId: `subscription:sub_1:${from}`,
    subscriptionId: 'sub_1',
    origin: 'change',
    occurredAt,
    period: { startsAt: month(3), endsAt: month(from + 1) },
    lines: [],
    total: null,
  }),
];

/** Histories of refunds, disputes and pauses. */
export const moneyBackHistories: readonly BuyerHistory[] = [
  {
    name: 'I got last month back, and this month is still paid',
    facts: [
      ...start,
      renewal(4),
      renewal(5),
      adjustment({ transactionId: 'txn_4', occurredAt: month(5, 2) }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(6) }] },
  },
  {
    name: 'I got this month back on its second day, and last month is over',
    facts: [...start, renewal(4), adjustment({ transactionId: 'txn_4', occurredAt: month(4, 2) })],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5), isRefunded: true }] },
  },
  {
    name: 'I was charged twice for one month, and got one payment back',
    facts: [
      ...start,
      renewal(4),
      renewal(4, { transactionId: 'txn_again' }),
      adjustment({ transactionId: 'txn_again', occurredAt: month(4, 2) }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5) }] },
  },
  {
    name: 'I paid two weeks late at Lemon Squeezy, got that back, and last month is over',
    provider: 'lemonsqueezy',
    facts: [
      checkout({ subscriptionId: 'sub_1' }),
      ...reported(3, month(3)),
      snapshot(month(4), 'past_due', null),
      renewal(4, { occurredAt: month(4, 13), period: null, lines: [] }),
      ...reported(4, month(4, 13)),
      adjustment({ transactionId: 'txn_4', occurredAt: month(4, 20) }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5), isRefunded: true }] },
  },
  {
    name: 'I got half of my money back, as a favour',
    facts: [...start, adjustment({ full: false, total: 500 })],
    expected: { licenses: [PERSONAL] },
  },
  {
    name: 'I got the rest of my money back, too',
    facts: [
      ...start,
      adjustment({ full: false, total: 500 }),
      adjustment({ adjustmentId: 'adj_2', full: false, total: 500, occurredAt: month(3, 5) }),
    ],
    expected: { licenses: [{ ...PERSONAL, isRefunded: true }] },
  },
  {
    name: 'I asked for my money back, and the seller refused',
    facts: [
      ...start,
      adjustment({ status: 'pending' }),
      adjustment({ status: 'rejected', occurredAt: month(3, 4) }),
    ],
    expected: { licenses: [PERSONAL] },
  },
  {
    name: 'I gave one of the two subscriptions in my cart back',
    facts: [
      checkout({ subscriptionId: 'sub_1', lines: two, total: 2_000 }),
      began({ lines: two }),
      adjustment({ full: false, total: 1_000, lines: [{ lineId: 'b', full: true, total: 1_000 }] }),
    ],
    expected: { licenses: [PERSONAL, { ...SELLERS, isRefunded: true }] },
  },
  {
    name: 'My bank disputed my first payment, and I won',
    facts: [
      ...start,
      renewal(4),
      adjustment({ effect: 'chargeback', occurredAt: month(4, 3) }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4, 20) }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5) }] },
  },
  {
    name: 'My bank disputed a payment that I had got back already',
    facts: [
      ...start,
      renewal(4),
      adjustment({ occurredAt: month(3, 4) }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4, 3) }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(5), isDisputed: true }] },
  },
  {
    name: 'I paused for two months, and paid when I came back',
    facts: [
      ...start,
      snapshot(month(4), 'paused', null),
      snapshot(month(6), 'active', 6),
      renewal(6),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(7) }] },
  },
  {
    name: 'I came back from a pause, and my card was declined',
    facts: [
      ...start,
      snapshot(month(4), 'paused', null),
      snapshot(month(6), 'active', 6),
      snapshot(month(6, 1), 'past_due', 6),
    ],
    expected: { licenses: [PERSONAL] },
  },
  {
    name: 'I paused in the middle of a month that I had paid',
    facts: [...start, snapshot(month(3, 9), 'paused', null)],
    expected: { licenses: [{ ...PERSONAL, isPaused: true }] },
  },
  {
    name: 'I paid after my trial, and the month follows the trial',
    facts: [
      ...trial,
      renewal(4, { occurredAt: month(3, 14), period: afterTrial }),
      snapshot(month(3, 14), 'active', null, { period: afterTrial }),
    ],
    expected: { licenses: [{ ...PERSONAL, expiresAt: month(4, 14) }] },
  },
  {
    name: 'I paid after my trial, and got that back',
    facts: [
      ...trial,
      renewal(4, { occurredAt: month(3, 14), period: afterTrial }),
      adjustment({ transactionId: 'txn_4', occurredAt: month(3, 20) }),
    ],
    expected: {
      licenses: [{ ...PERSONAL, expiresAt: month(4, 14), isRefunded: true, hasGrace: false }],
    },
  },
];
