import {
  adjustment,
  began,
  checkout,
  line,
  month,
  monthly,
  MONTHLY,
  ONCE,
  payment,
  PRICES,
  renewal,
  snapshot,
  type Scenario,
} from './facts.fixture.ts';
import { moneyBackScenarios } from './money-back-scenarios.fixture.ts';

const SELLERS = { ...MONTHLY, productId: 'sellers', machines: 10 };
const upgraded = { lines: [monthly(PRICES.sellers)] };
const cancelSoon = { action: 'cancel', effectiveAt: month(4) } as const;

/** Histories of purchases with at most six facts each, whose facts lead to the same licenses in any order. */
export const scenarios: readonly Scenario[] = [
  { name: 'one-time purchase', facts: [payment()], expected: [ONCE] },
  {
    name: 'one-time purchase with a term',
    facts: [payment({ lines: [line(PRICES.yearly)] })],
    expected: [
      {
        lineKey: 'once:0',
        productId: 'yearly',
        machines: 3,
        expiresAt: new Date(month(3).getTime() + 365 * 86_400_000),
      },
    ],
  },
  {
    name: 'several lines and a quantity',
    facts: [
      payment({
        lines: [
          line(PRICES.unknown),
          line(PRICES.personal, { quantity: 5 }),
          line(PRICES.sellers, { lineId: 'b' }),
        ],
      }),
    ],
    expected: [
      { ...ONCE, lineKey: 'once:1', machines: 10 },
      { ...ONCE, lineKey: 'once:2', productId: 'sellers', machines: 10 },
    ],
  },
  {
    name: 'subscription',
    facts: [checkout(), began()],
    expected: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'the provider calls the next period active before its payment is reported',
    facts: [checkout({ subscriptionId: 'sub_1' }), snapshot(month(4), 'active', 4)],
    expected: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'the next period turned out to be unpaid',
    facts: [
      checkout({ subscriptionId: 'sub_1' }),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'renewal',
    facts: [checkout(), began(), snapshot(month(4), 'active', 4), renewal(4)],
    expected: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'unpaid renewal',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'late payment of a renewal',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
      renewal(4, { occurredAt: month(4, 5) }),
      snapshot(month(4, 5), 'active', 4),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'cancellation after failed payments',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
      snapshot(month(4, 20), 'canceled', null),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(4), canceledAt: month(4, 20) }],
  },
  {
    name: 'pause',
    facts: [checkout(), began(), snapshot(month(3, 9), 'paused', null)],
    expected: [{ ...MONTHLY, expiresAt: month(4), pausedAt: month(3, 9) }],
  },
  {
    name: 'pause and resumption',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'paused', null),
      renewal(6),
      snapshot(month(6), 'active', 6),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(7) }],
  },
  {
    name: 'scheduled cancellation',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 5), 'active', 3, { scheduledChange: cancelSoon }),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(4), cancelScheduledFor: month(4) }],
  },
  {
    name: 'scheduled cancellation that was revoked',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 5), 'active', 3, { scheduledChange: cancelSoon }),
      snapshot(month(3, 6), 'active', 3),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'change and cancellation in the same second',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 3, { scheduledChange: cancelSoon }),
      snapshot(month(4), 'canceled', null),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(4), canceledAt: month(4) }],
  },
  {
    name: 'upgrade',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 9), 'active', 3, upgraded),
      payment({ transactionId: 'txn_u', subscriptionId: 'sub_1', origin: 'change', ...upgraded }),
    ],
    expected: [{ ...SELLERS, expiresAt: month(4) }],
  },
  {
    name: 'upgrade and downgrade',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 9), 'active', 3, upgraded),
      snapshot(month(4), 'active', 4),
      renewal(4),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'increased quantity',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 9), 'active', 3, { lines: [monthly(PRICES.personal, { quantity: 4 })] }),
    ],
    expected: [{ ...MONTHLY, machines: 8, expiresAt: month(4) }],
  },
  {
    name: 'added and removed lines',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 5), 'active', 3, {
        lines: [monthly(PRICES.personal), monthly(PRICES.sellers)],
      }),
      snapshot(month(3, 9), 'active', 3, upgraded),
    ],
    expected: [
      { ...MONTHLY, expiresAt: month(4), canceledAt: month(3, 9) },
      { ...SELLERS, lineKey: 'recurring:1', expiresAt: month(4) },
    ],
  },
  ...moneyBackScenarios,
  {
    name: 'subscription canceled without payment',
    facts: [snapshot(month(4), 'canceled', null, { transactionId: 'txn_1' })],
    expected: [],
  },
  { name: 'refund of an unknown purchase', facts: [adjustment()], expected: [] },
];
