import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import {
  fastSpringAccount,
  fastSpringCharge,
  fastSpringOrder,
  fastSpringReturn,
  fastSpringSubscription,
  startOfDay,
} from '../../../../../test/payment-providers/fastspring-events.ts';
import { DAY_MS, TEST_START } from '../../../../../test/test-clock.ts';
import { UNKNOWN_CUSTOMER, type PaymentFact, type SubscriptionFact } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import { later } from '../any-order.fixture.ts';
import { fastSpringAdapter } from './adapter.ts';
import { readAmount } from './fields.ts';

const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: 'de' };
const BEGIN = startOfDay(TEST_START);
const NEXT = startOfDay(later(31));
const MONTH = { interval: 'month', frequency: 1 } as const;

function read(event: object) {
  const rawBody = Buffer.from(JSON.stringify(event));
  return fastSpringAdapter.normalize(JSON.parse(rawBody.toString()), { headers: {}, rawBody });
}

function listPayments(event: object): PaymentFact[] {
  return read(event).facts.filter((fact) => fact.kind === 'payment');
}

function snapshot(event: object): SubscriptionFact {
  const found = read(event).facts.find((fact) => fact.kind === 'subscription');
  assert.ok(found !== undefined);
  return found;
}

describe('a completed order', () => {
  test('becomes a purchase with its amounts in the smallest unit', () => {
    const event = fastSpringOrder({
      eventId: 'fsev_order',
      items: [{ quantity: 2, subtotal: 39.98 }],
    });
    assert.deepEqual(read(event), {
      provider: 'fastspring',
      eventId: 'fsev_order',
      type: 'order.completed',
      occurredAt: TEST_START,
      ignoredBecause: null,
      facts: [
        {
          kind: 'payment',
          transactionId: 'fsord_1',
          subscriptionId: null,
          origin: 'purchase',
          customerId: 'fsacc_ann',
          customer: ANN,
          occurredAt: TEST_START,
          period: null,
          lines: [
            { lineId: 'personal', priceId: 'personal', quantity: 2, cycle: null, total: 3_998 },
          ],
          total: 3_998,
          currency: 'EUR',
          tax: 0,
          country: 'DE',
        },
      ],
    });
  });

  test('of a subscription pays until its next charge, and contains its state', () => {
    const event = fastSpringOrder({ items: [{ subtotal: 9.99, subscription: {} }] });
    const [payment, ...others] = listPayments(event);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [payment?.subscriptionId, payment?.period, payment?.lines],
      [
        'fssub_1',
        { startsAt: TEST_START, endsAt: NEXT },
        [{ lineId: 'fssub_1', priceId: 'monthly', quantity: 1, cycle: MONTH, total: 999 }],
      ],
    );
    assert.deepEqual(snapshot(event).period, { startsAt: BEGIN, endsAt: NEXT });
  });

  test('without expansion names its subscription only, whose own event has the rest', () => {
    const event = fastSpringOrder({ isExpanded: false, items: [{ subscription: {} }] });
    const { facts } = read(event);
    assert.deepEqual(facts.length, 1);
    const [payment] = listPayments(event);
    assert.deepEqual(
      [payment?.subscriptionId, payment?.period, payment?.lines, payment?.customerId],
      ['fssub_1', null, [], 'fsacc_ann'],
    );
  });

  test('of several subscriptions is a purchase for each, so that one does not replace the other', () => {
    const event = fastSpringOrder({
      items: [
        { subtotal: 20 },
        { subtotal: 9.99, subscription: { subscriptionId: 'fssub_1' } },
        { subtotal: 99, subscription: { subscriptionId: 'fssub_2', product: 'team' } },
      ],
    });
    assert.deepEqual(
      listPayments(event).map(({ transactionId, subscriptionId, total, lines }) => [
        transactionId,
        subscriptionId,
        total,
        lines.map((line) => [line.priceId, line.total]),
      ]),
      [
        [
          'fsord_1',
          'fssub_1',
          null,
          [
            ['personal', 2_000],
            ['monthly', 999],
          ],
        ],
        ['fsord_1:fssub_2', 'fssub_2', null, [['team', 9_900]]],
      ],
    );
  });

  test('of several subscriptions divides its money, with the tax, among them to the last cent', () => {
    const items = [
      { subtotal: 9.99, subscription: { subscriptionId: 'fssub_1' } },
      { subtotal: 99, subscription: { subscriptionId: 'fssub_2', product: 'team' } },
    ];
    const event = fastSpringOrder({ total: 129.7, data: { tax: 20.71 }, items });
    assert.deepEqual(
      listPayments(event).map(({ part }) => part),
      [
        { total: 1_189, tax: 190 },
        { total: 11_781, tax: 1_881 },
      ],
    );
  });

  test('of a gift belongs to the recipient', () => {
    const recipient = { first: 'Bob', last: 'B', email: 'bob@example.com', account: 'fsacc_bob' };
    const [payment] = listPayments(fastSpringOrder({ data: { recipients: [{ recipient }] } }));
    assert.deepEqual(
      [payment?.customerId, payment?.customer],
      ['fsacc_bob', { email: 'bob@example.com', name: 'Bob B', locale: 'de' }],
    );
  });

  test('without items needs an operator, and is ignored until it is completed', () => {
    const [payment] = listPayments(fastSpringOrder({ data: { items: undefined } }));
    assert.match(payment?.problem ?? '', /Enable webhook expansion/u);
    const { ignoredBecause } = read(fastSpringOrder({ data: { completed: false } }));
    assert.equal(ignoredBecause, 'The order is not completed.');
  });
});

test('amounts are shifted by the decimals of their currency exactly', () => {
  const amounts = [
    [19.99, 'EUR', 1_999],
    [1.005, 'USD', 101],
    [0.29, 'USD', 29],
    [4_500, 'JPY', 4_500],
    [12.345, 'KWD', 12_345],
    [-5, 'EUR', -500],
    [1e21, 'EUR', null],
    ['19.99', 'EUR', null],
    [19.99, undefined, null],
  ] as const;
  assert.deepEqual(
    amounts.map(([value, currency]) => readAmount(value, currency)),
    amounts.map(([, , expected]) => expected),
  );
});

describe('a subscription', () => {
  test('becomes a snapshot as of its last change', () => {
    const event = fastSpringSubscription('updated', { quantity: 3, at: later(2) });
    assert.deepEqual(read(event).facts, [
      {
        kind: 'subscription',
        subscriptionId: 'fssub_1',
        transactionId: null,
        customerId: 'fsacc_ann',
        customer: ANN,
        occurredAt: later(2),
        status: 'active',
        period: { startsAt: BEGIN, endsAt: NEXT },
        pausedAt: null,
        canceledAt: null,
        scheduledChange: null,
        lines: [{ lineId: 'fssub_1', priceId: 'monthly', quantity: 3, cycle: MONTH, total: 999 }],
        reported: 'active',
      },
    ]);
  });

  test('is the same with and without expansion, except for the customer', () => {
    const options = { eventId: 'e', at: later(1) };
    const ids = snapshot(fastSpringSubscription('activated', { ...options, isExpanded: false }));
    const objects = snapshot(fastSpringSubscription('activated', options));
    assert.deepEqual(ids, { ...objects, customer: UNKNOWN_CUSTOMER });
  });

  test('has the status of its state', () => {
    const statuses = ['active', 'trial', 'overdue', 'canceled', 'paused', 'deactivated'].map(
      (state) => snapshot(fastSpringSubscription('updated', { state })).status,
    );
    assert.deepEqual(statuses, ['active', 'trialing', 'past_due', 'active', 'paused', 'canceled']);
    const { ignoredBecause } = read(fastSpringSubscription('updated', { state: 'frozen' }));
    assert.equal(ignoredBecause, 'The subscription has an unknown state.');
  });

  test('that is canceled runs until the end of its last day', () => {
    const lastDay = new Date(NEXT.getTime() - DAY_MS);
    const event = fastSpringSubscription('canceled', { state: 'canceled', lastDay });
    const { period, scheduledChange } = snapshot(event);
    assert.deepEqual(period, { startsAt: BEGIN, endsAt: NEXT });
    assert.deepEqual(scheduledChange, { action: 'cancel', effectiveAt: NEXT });
  });

  test('that is deactivated ended on its last day, or now if that is not over', () => {
    const deactivated = { state: 'deactivated', end: BEGIN };
    const atOnce = fastSpringSubscription('deactivated', deactivated);
    assert.deepEqual(snapshot(atOnce).canceledAt, TEST_START);
    const late = fastSpringSubscription('deactivated', { ...deactivated, at: later(5) });
    assert.deepEqual(snapshot(late).canceledAt, new Date(BEGIN.getTime() + DAY_MS));
  });

  test('is a part of events about charges', () => {
    const overdue = fastSpringSubscription('payment.overdue', { state: 'overdue' });
    assert.equal(snapshot(overdue).status, 'past_due');
    const { data } = fastSpringSubscription('updated', { state: 'overdue' });
    const failed = fastSpringSubscription('charge.failed', {
      data: { state: undefined, reason: 'EXPIRED_CARD', subscription: data },
    });
    assert.equal(snapshot(failed).status, 'past_due');
    const id = { state: undefined, subscription: 'fssub_1' };
    const bare = read(fastSpringSubscription('charge.failed', { data: id }));
    assert.match(bare.ignoredBecause ?? '', /no state of the subscription/u);
  });
});

describe('a charge', () => {
  test('becomes a renewal until the next charge, under the id of its order', () => {
    const at = NEXT;
    const next = startOfDay(later(61));
    const [payment] = listPayments(fastSpringCharge({ at, next }));
    assert.deepEqual(payment, {
      kind: 'payment',
      transactionId: 'fsord_2',
      subscriptionId: 'fssub_1',
      origin: 'renewal',
      customerId: 'fsacc_ann',
      customer: ANN,
      occurredAt: at,
      period: { startsAt: at, endsAt: next },
      lines: [{ lineId: 'fssub_1', priceId: 'monthly', quantity: 1, cycle: MONTH, total: 999 }],
      total: 999,
      currency: 'EUR',
      tax: 0,
      country: 'DE',
      reported: 'successful',
    });
  });

  test('without expansion has the ids and the amount', () => {
    const event = fastSpringCharge({ isExpanded: false });
    const [payment] = listPayments(event);
    assert.deepEqual(
      [payment?.transactionId, payment?.subscriptionId, payment?.total, payment?.lines],
      ['fsord_2', 'fssub_1', 999, []],
    );
    assert.deepEqual(read(event).facts.length, 1);
  });
});

describe('a return', () => {
  test('becomes a refund of its order by items, under its own id', () => {
    const event = fastSpringReturn({
      at: later(3),
      total: 25,
      items: [{ product: 'personal', subtotal: 19.99 }],
    });
    assert.deepEqual(read(event).facts, [
      {
        kind: 'adjustment',
        adjustmentId: 'fsret_1',
        transactionId: 'fsord_1',
        occurredAt: later(3),
        effect: 'refund',
        status: 'approved',
        full: null,
        total: 2_500,
        currency: 'EUR',
        lines: [{ lineId: 'personal', full: null, total: 1_999 }],
      },
    ]);
  });

  test('of a subscription also concerns the part of a split order', () => {
    const items = [{ product: 'team', subtotal: 99, subscriptionId: 'fssub_2' }];
    const names = read(fastSpringReturn({ total: 99, items })).facts.map((fact) =>
      fact.kind === 'adjustment' ? [fact.adjustmentId, fact.transactionId, fact.total] : null,
    );
    assert.deepEqual(names, [
      ['fsret_1', 'fsord_1', 9_900],
      ['fsret_1:fssub_2', 'fsord_1:fssub_2', null],
    ]);
  });

  test('names its order as an object or as an id', () => {
    const expanded = read(fastSpringReturn({ eventId: 'e' }));
    assert.deepEqual(read(fastSpringReturn({ eventId: 'e', isExpanded: false })), expanded);
  });
});

test('an account becomes a customer', () => {
  assert.deepEqual(read(fastSpringAccount('updated', { email: 'new@example.com' })).facts, [
    {
      kind: 'customer',
      customerId: 'fsacc_ann',
      occurredAt: TEST_START,
      customer: { ...ANN, email: 'new@example.com' },
    },
  ]);
});

test('other events are ignored with the reason', () => {
  const reasons = ['order.failed', 'subscription.payment.reminder', 'payoutEntry.created'].map(
    (type) => read({ ...fastSpringOrder(), type }).ignoredBecause,
  );
  assert.deepEqual(reasons, [
    'An order counts only once it is completed.',
    'It reports no change of the subscription.',
    'No license depends on payoutEntry.created.',
  ]);
});

test('events without the ids of their type are malformed', () => {
  const lacking = [
    fastSpringOrder({ data: { id: undefined, order: undefined } }),
    fastSpringCharge({ data: { order: null } }),
    fastSpringCharge({ data: { subscription: 7.5 } }),
    fastSpringSubscription('updated', { data: { id: '', subscription: '' } }),
    fastSpringReturn({ data: { original: null } }),
    fastSpringReturn({ data: { return: null } }),
    fastSpringAccount('created', { data: { id: null, account: null } }),
    { ...fastSpringOrder(), created: 'yesterday' },
    { ...fastSpringOrder(), data: 'fsord_1' },
  ];
  for (const event of lacking) assert.throws(() => read(event), MalformedEventError);
});

test('any values of fields become facts or a malformed event', () => {
  const events = [fastSpringOrder, fastSpringCharge, fastSpringReturn].map((create) => create());
  const fields = [...new Set(events.flatMap(({ data }) => Object.keys(data)))];
  fc.assert(
    fc.property(
      fc.constantFrom(...events, fastSpringSubscription('updated')),
      fc.dictionary(fc.constantFrom(...fields, 'state', 'next'), fc.jsonValue()),
      (event, data) => {
        try {
          const { facts } = read({ ...event, data: { ...event.data, ...data } });
          for (const fact of facts) assert.ok(!Number.isNaN(fact.occurredAt.getTime()));
        } catch (error) {
          assert.ok(error instanceof MalformedEventError, String(error));
        }
      },
    ),
    { numRuns: 300 },
  );
});
