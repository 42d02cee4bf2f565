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

/** Every course of things that the service promises to converge on, each of at most six facts. */
export const scenarios: readonly Scenario[] = [
  { name: 'bought once', facts: [payment()], ends: [ONCE] },
  {
    name: 'bought for a term',
    facts: [payment({ lines: [line(PRICES.yearly)] })],
    ends: [
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
    ends: [
      { ...ONCE, lineKey: 'once:1', machines: 10 },
      { ...ONCE, lineKey: 'once:2', productId: 'sellers', machines: 10 },
    ],
  },
  {
    name: 'subscribed',
    facts: [checkout(), began()],
    ends: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'subscribed, and the first snapshot was lost: a later one shows an unpaid period',
    facts: [checkout({ subscriptionId: 'sub_1' }), snapshot(month(4), 'active', 4)],
    ends: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'renewed',
    facts: [checkout(), began(), snapshot(month(4), 'active', 4), renewal(4)],
    ends: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'a renewal that is not paid',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'a renewal that is paid late',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
      renewal(4, { occurredAt: month(4, 5) }),
      snapshot(month(4, 5), 'active', 4),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'dunned in vain',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 4),
      snapshot(month(4, 1), 'past_due', 4),
      snapshot(month(4, 20), 'canceled', null),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(4), canceledAt: month(4, 20) }],
  },
  {
    name: 'paused',
    facts: [checkout(), began(), snapshot(month(3, 9), 'paused', null)],
    ends: [{ ...MONTHLY, expiresAt: month(4), pausedAt: month(3, 9) }],
  },
  {
    name: 'paused and resumed',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'paused', null),
      renewal(6),
      snapshot(month(6), 'active', 6),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(7) }],
  },
  {
    name: 'a cancellation that is to come',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 5), 'active', 3, { scheduledChange: cancelSoon }),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(4), cancelScheduledFor: month(4) }],
  },
  {
    name: 'a cancellation that was to come and was undone',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 5), 'active', 3, { scheduledChange: cancelSoon }),
      snapshot(month(3, 6), 'active', 3),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(4) }],
  },
  {
    name: 'canceled in the same second as changed',
    facts: [
      checkout(),
      began(),
      snapshot(month(4), 'active', 3, { scheduledChange: cancelSoon }),
      snapshot(month(4), 'canceled', null),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(4), canceledAt: month(4) }],
  },
  {
    name: 'upgraded',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 9), 'active', 3, upgraded),
      payment({ transactionId: 'txn_u', subscriptionId: 'sub_1', origin: 'change', ...upgraded }),
    ],
    ends: [{ ...SELLERS, expiresAt: month(4) }],
  },
  {
    name: 'upgraded and downgraded',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 9), 'active', 3, upgraded),
      snapshot(month(4), 'active', 4),
      renewal(4),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'more seats',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 9), 'active', 3, { lines: [monthly(PRICES.personal, { quantity: 4 })] }),
    ],
    ends: [{ ...MONTHLY, machines: 8, expiresAt: month(4) }],
  },
  {
    name: 'a line that is added and one that goes',
    facts: [
      checkout(),
      began(),
      snapshot(month(3, 5), 'active', 3, {
        lines: [monthly(PRICES.personal), monthly(PRICES.sellers)],
      }),
      snapshot(month(3, 9), 'active', 3, upgraded),
    ],
    ends: [
      { ...MONTHLY, expiresAt: month(4), canceledAt: month(3, 9) },
      { ...SELLERS, lineKey: 'recurring:1', expiresAt: month(4) },
    ],
  },
  ...moneyBackScenarios,
  {
    name: 'a subscription that ended unpaid',
    facts: [snapshot(month(4), 'canceled', null, { transactionId: 'txn_1' })],
    ends: [],
  },
  { name: 'a refund of a purchase that is not known', facts: [adjustment()], ends: [] },
];
