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

/** Histories with refunds and disputes. */
export const moneyBackScenarios: readonly Scenario[] = [
  {
    name: 'full refund',
    facts: [payment(), adjustment({ status: 'pending', occurredAt: month(3, 1) }), adjustment()],
    expected: [{ ...ONCE, refundedAt: month(3, 2) }],
  },
  {
    name: 'rejected refund',
    facts: [
      payment(),
      adjustment({ status: 'pending' }),
      adjustment({ status: 'rejected', occurredAt: month(3, 3) }),
    ],
    expected: [ONCE],
  },
  {
    name: 'reversed refund',
    facts: [payment(), adjustment(), adjustment({ status: 'reversed', occurredAt: month(3, 3) })],
    expected: [ONCE],
  },
  {
    name: 'partial refund',
    facts: [payment(), adjustment({ full: false, total: 400 })],
    expected: [ONCE],
  },
  {
    name: 'partial refunds that add up to the total',
    facts: [
      payment(),
      adjustment({ full: null, total: 400 }),
      adjustment({ adjustmentId: 'adj_2', full: null, total: 600, occurredAt: month(3, 4) }),
    ],
    expected: [{ ...ONCE, refundedAt: month(3, 4) }],
  },
  {
    name: 'refund of one of two lines',
    facts: [
      payment({ lines: both, total: 2_000 }),
      adjustment({ full: false, lines: [partOf('b', true, 1_000)] }),
    ],
    expected: [
      ONCE,
      { ...ONCE, lineKey: 'once:1', productId: 'sellers', machines: 10, refundedAt: month(3, 2) },
    ],
  },
  {
    name: 'refund of the newest payment of a subscription',
    facts: [
      checkout(),
      began(),
      renewal(4),
      adjustment({ transactionId: 'txn_4', occurredAt: month(4, 2) }),
    ],
    expected: [{ ...MONTHLY, expiresAt: month(5), refundedAt: month(4, 2) }],
  },
  {
    name: 'refund of an older payment of a subscription',
    facts: [checkout(), began(), renewal(4), adjustment({ occurredAt: month(4, 2) })],
    expected: [{ ...MONTHLY, expiresAt: month(5) }],
  },
  {
    name: 'chargeback',
    facts: [payment(), adjustment({ effect: 'chargeback' })],
    expected: [{ ...ONCE, disputedAt: month(3, 2) }],
  },
  {
    name: 'reversed chargeback',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
    ],
    expected: [ONCE],
  },
  {
    name: 'chargeback, reversal and a second chargeback',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
      adjustment({ effect: 'chargeback', status: 'reversed', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback', occurredAt: month(5) }),
    ],
    expected: [{ ...ONCE, disputedAt: month(5) }],
  },
  {
    name: 'two reversed chargebacks, one of them reported twice',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback', status: 'reversed' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback', occurredAt: month(5) }),
      adjustment({ adjustmentId: 'adj_4', effect: 'chargeback_reverse', occurredAt: month(6) }),
    ],
    expected: [ONCE],
  },
  {
    name: 'reversed warning and a later chargeback',
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
    expected: [{ ...ONCE, disputedAt: month(4, 1) }],
  },
  {
    name: 'reversed chargeback and a warning of which only the reversal was reported',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning', status: 'reversed' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback_reverse', occurredAt: month(5) }),
    ],
    expected: [ONCE],
  },
  {
    name: 'warning and its chargeback',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4) }),
    ],
    expected: [{ ...ONCE, disputedAt: month(3, 2) }],
  },
  {
    name: 'warning whose chargeback was reversed',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback_warning' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback_reverse', occurredAt: month(5) }),
    ],
    expected: [ONCE],
  },
  {
    name: 'warning after a reversed chargeback',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback' }),
      adjustment({ adjustmentId: 'adj_2', effect: 'chargeback_reverse', occurredAt: month(4) }),
      adjustment({ adjustmentId: 'adj_3', effect: 'chargeback_warning', occurredAt: month(5) }),
    ],
    expected: [{ ...ONCE, disputedAt: month(5) }],
  },
  {
    name: 'chargeback with a duplicate report',
    facts: [
      payment(),
      adjustment({ effect: 'chargeback', status: 'pending', occurredAt: month(3, 1) }),
      adjustment({ effect: 'chargeback' }),
      adjustment({ effect: 'chargeback', occurredAt: month(3, 5) }),
    ],
    expected: [{ ...ONCE, disputedAt: month(3, 2) }],
  },
  {
    name: 'refund that becomes full, with a duplicate report',
    facts: [
      payment(),
      adjustment({ full: false, total: 400, occurredAt: month(3, 2) }),
      adjustment({ occurredAt: month(3, 3) }),
      adjustment({ occurredAt: month(3, 4) }),
    ],
    expected: [{ ...ONCE, refundedAt: month(3, 3) }],
  },
  {
    name: 'refund under an alias of the payment',
    facts: [
      payment({ aliases: ['pi_1'], checkoutId: 'cs_1' }),
      payment({ aliases: ['ch_1'], occurredAt: month(3, 1) }),
      adjustment({ transactionId: 'ch_1' }),
    ],
    expected: [{ ...ONCE, refundedAt: month(3, 2) }],
  },
];
