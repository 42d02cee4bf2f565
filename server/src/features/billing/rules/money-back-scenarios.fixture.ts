import {
  adjustment,
  began,
  checkout,
  line,
  month,
  MONTHLY,
  ONCE,
  payment,
  PRICES,
  renewal,
  type Scenario,
} from './facts.fixture.ts';

const both = [line(PRICES.personal, { lineId: 'a' }), line(PRICES.sellers, { lineId: 'b' })];
const partOf = (lineId: string, full: boolean | null, total: number) => ({ lineId, full, total });

/** Every course that money takes when it goes back or is fought over. */
export const moneyBackScenarios: readonly Scenario[] = [
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
    name: 'fought over, won, and fought over again',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
      adjustment({ effect: 'chargeback', status: 'reversed', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback', occurredAt: month(5) }),
    ],
    ends: [{ ...ONCE, disputedAt: month(5) }],
  },
  {
    name: 'fought over and won twice, of which one is told in two ways',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback', status: 'reversed' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback', occurredAt: month(5) }),
      adjustment({ adjustmentId: 'adj_4', effect: 'chargeback_reverse', occurredAt: month(6) }),
    ],
    ends: [ONCE],
  },
  {
    name: 'a warning that is taken back, and the chargeback after it',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning' }),
      adjustment({ effect: 'chargeback_warning', status: 'reversed', occurredAt: month(4) }),
      adjustment({
        adjustmentId: 'adj_2',
        effect: 'chargeback_warning_reverse',
        occurredAt: month(4),
      }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback', occurredAt: month(4, 1) }),
    ],
    ends: [{ ...ONCE, disputedAt: month(4, 1) }],
  },
  {
    name: 'a chargeback that is taken back, beside a warning of which only the end was told',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning', status: 'reversed' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback_reverse', occurredAt: month(5) }),
    ],
    ends: [ONCE],
  },
  {
    name: 'a warning, and the chargeback that came of it',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4) }),
    ],
    ends: [{ ...ONCE, disputedAt: month(3, 2) }],
  },
  {
    name: 'a warning that only the chargeback that came of it ended, which was taken back',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback_reverse', occurredAt: month(5) }),
    ],
    ends: [ONCE],
  },
  {
    name: 'a warning after a chargeback that was taken back',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback_warning', occurredAt: month(5) }),
    ],
    ends: [{ ...ONCE, disputedAt: month(5) }],
  },
  {
    name: 'fought over, and told of again',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback', status: 'pending', occurredAt: month(3, 1) }),
      adjustment({ effect: 'chargeback' }),
      adjustment({ effect: 'chargeback', occurredAt: month(3, 5) }),
    ],
    ends: [{ ...ONCE, disputedAt: month(3, 2) }],
  },
  {
    name: 'a refund that grows to all of it, and is told of again',
    facts: [
      payment(),
      adjustment({ full: false, total: 400, occurredAt: month(3, 2) }),
      adjustment({ occurredAt: month(3, 3) }),
      adjustment({ occurredAt: month(3, 4) }),
    ],
    ends: [{ ...ONCE, refundedAt: month(3, 3) }],
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
];
