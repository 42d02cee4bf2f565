import type { BillingFact } from '../facts.ts';
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

/** What became of one line: which product for how many machines, and every fact that decides the status. */
export interface ExpectedLicense {
  readonly lineKey: string;
  readonly productId: string;
  readonly machines: number;
  readonly expiresAt: Date | null;
  readonly cancelScheduledFor?: Date;
  readonly canceledAt?: Date;
  readonly pausedAt?: Date;
  readonly disputedAt?: Date;
  readonly refundedAt?: Date;
}

/** A story of a purchase and how it ends, whatever the order in which it is told. */
export interface Scenario {
  readonly name: string;
  readonly facts: readonly BillingFact[];
  readonly ends: readonly ExpectedLicense[];
}

const ONCE = { lineKey: 'once:0', productId: 'personal', machines: 2, expiresAt: null };
const MONTHLY = { lineKey: 'recurring:0', productId: 'personal', machines: 2 };
const SELLERS = { ...MONTHLY, productId: 'sellers', machines: 10 };
const upgraded = { lines: [monthly(PRICES.sellers)] };
const cancelSoon = { action: 'cancel', effectiveAt: month(4) } as const;
const both = [line(PRICES.personal, { lineId: 'a' }), line(PRICES.sellers, { lineId: 'b' })];
const partOf = (lineId: string, full: boolean | null, total: number) => ({ lineId, full, total });

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
  {
    name: 'refunded',
    facts: [payment(), adjustment({ status: 'pending', occurredAt: month(3, 1) }), adjustment()],
    ends: [{ ...ONCE, refundedAt: month(3, 2) }],
  },
  {
    name: 'a refund that is rejected',
    facts: [
      payment(),
      adjustment({ status: 'pending' }),
      adjustment({ status: 'rejected', occurredAt: month(3, 3) }),
    ],
    ends: [ONCE],
  },
  {
    name: 'a refund that is reversed',
    facts: [payment(), adjustment(), adjustment({ status: 'reversed', occurredAt: month(3, 3) })],
    ends: [ONCE],
  },
  {
    name: 'a partial refund',
    facts: [payment(), adjustment({ full: false, total: 400 })],
    ends: [ONCE],
  },
  {
    name: 'partial refunds that add up',
    facts: [
      payment(),
      adjustment({ full: null, total: 400 }),
      adjustment({ adjustmentId: 'adj_2', full: null, total: 600, occurredAt: month(3, 4) }),
    ],
    ends: [{ ...ONCE, refundedAt: month(3, 4) }],
  },
  {
    name: 'one of two lines refunded',
    facts: [
      payment({ lines: both, total: 2_000 }),
      adjustment({ full: false, lines: [partOf('b', true, 1_000)] }),
    ],
    ends: [
      ONCE,
      { ...ONCE, lineKey: 'once:1', productId: 'sellers', machines: 10, refundedAt: month(3, 2) },
    ],
  },
  {
    name: 'the newest payment of a subscription refunded',
    facts: [
      checkout(),
      began(),
      renewal(4),
      adjustment({ transactionId: 'txn_4', occurredAt: month(4, 2) }),
    ],
    ends: [{ ...MONTHLY, expiresAt: month(5), refundedAt: month(4, 2) }],
  },
  {
    name: 'an older payment of a subscription refunded',
    facts: [checkout(), began(), renewal(4), adjustment({ occurredAt: month(4, 2) })],
    ends: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'fought over',
    facts: [payment(), adjustment({ effect: 'chargeback' })],
    ends: [{ ...ONCE, disputedAt: month(3, 2) }],
  },
  {
    name: 'fought over and won',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
    ],
    ends: [ONCE],
  },
  {
    name: 'money back under another id of the payment',
    facts: [
      payment({ aliases: ['pi_1'], checkoutId: 'cs_1' }),
      payment({ aliases: ['ch_1'], occurredAt: month(3, 1) }),
      adjustment({ transactionId: 'ch_1' }),
    ],
    ends: [{ ...ONCE, refundedAt: month(3, 2) }],
  },
  {
    name: 'a subscription that ended unpaid',
    facts: [snapshot(month(4), 'canceled', null, { transactionId: 'txn_1' })],
    ends: [],
  },
  { name: 'a refund of a purchase that is not known', facts: [adjustment()], ends: [] },
];
