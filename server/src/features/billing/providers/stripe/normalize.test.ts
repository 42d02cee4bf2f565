import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import * as fc from 'fast-check';

import {
  stripeChargeRefunded,
  stripeCheckoutCompleted,
  stripeCustomer,
  stripeDispute,
  stripeInvoicePaid,
  stripeInvoicePaymentPaid,
  stripeRefund,
  stripeSubscription,
  type StripeTestEvent,
} from '../../../../../test/stripe-events.ts';
import { DAY_MS, TEST_START } from '../../../../../test/test-clock.ts';
import type { BillingFact } from '../../facts.ts';
import { MalformedEventError } from '../adapter.ts';
import { normalizeStripe } from './normalize.ts';

const MONTH_END = new Date(TEST_START.getTime() + 30 * DAY_MS);
const ANN = { email: 'ann@example.com', name: 'Ann Example', locale: 'de' };
const VERSIONS = ['acacia', 'basil'] as const;

function pause(behavior: string) {
  return { object: { pause_collection: { behavior, resumes_at: 1_900_000_000 } } };
}

/** As it arrives: what JSON leaves out is not there. */
function read(event: StripeTestEvent) {
  return normalizeStripe(JSON.parse(JSON.stringify(event)));
}

function only<Kind extends BillingFact['kind']>(event: StripeTestEvent, kind: Kind) {
  const found = read(event).facts.filter(
    (fact): fact is Extract<BillingFact, { kind: Kind }> => fact.kind === kind,
  );
  assert.equal(found.length, 1);
  const [fact] = found;
  assert.ok(fact);
  return fact;
}

describe('a checkout', () => {
  test('that sold once is a purchase under its payment intent, known to the front end by its own id', () => {
    const event = read(stripeCheckoutCompleted({ eventId: 'evt_1', quantity: 3 }));
    assert.deepEqual(event, {
      provider: 'stripe',
      eventId: 'evt_1',
      type: 'checkout.session.completed',
      occurredAt: TEST_START,
      ignoredBecause: null,
      facts: [
        {
          kind: 'payment',
          transactionId: 'pi_ann',
          checkoutId: 'cs_test_ann',
          subscriptionId: null,
          origin: 'purchase',
          customerId: null,
          customer: ANN,
          occurredAt: TEST_START,
          period: null,
          lines: [
            {
              lineId: 'price_personal',
              priceId: 'price_personal',
              quantity: 3,
              cycle: null,
              total: null,
            },
          ],
          total: 1_000,
        },
      ],
    });
  });

  test('that cost nothing has no payment intent and goes by its own id', () => {
    const checkout = { paymentIntentId: null, paymentStatus: 'no_payment_required' } as const;
    const fact = only(stripeCheckoutCompleted(checkout), 'payment');
    assert.equal(fact.transactionId, 'cs_test_ann');
  });

  test('tells the expanded line items rather than the metadata', () => {
    const data = [{ id: 'li_1', price: { id: 'price_a', recurring: null }, quantity: 2 }];
    const fact = only(stripeCheckoutCompleted({ object: { line_items: { data } } }), 'payment');
    assert.deepEqual(fact.lines, [
      { lineId: 'li_1', priceId: 'price_a', quantity: 2, cycle: null, total: null },
    ]);
  });

  test('that is not paid yet, names no price or sold nothing is ignored', () => {
    const cases: [StripeTestEvent, string][] = [
      [stripeCheckoutCompleted({ paymentStatus: 'unpaid' }), 'The payment is still under way.'],
      [
        stripeCheckoutCompleted({ priceId: null }),
        'The checkout names no price: set metadata.price_id on it.',
      ],
      [stripeCheckoutCompleted({ object: { mode: 'setup' } }), 'The checkout sold nothing.'],
    ];
    for (const [event, reason] of cases) {
      const { facts, ignoredBecause } = read(event);
      assert.deepEqual([facts, ignoredBecause], [[], reason]);
    }
  });

  test('that begins a subscription is an older word on the payment of its first invoice', () => {
    const fact = only(stripeCheckoutCompleted({ subscriptionId: 'sub_ann' }), 'payment');
    assert.equal(fact.transactionId, 'in_ann');
    assert.equal(fact.checkoutId, 'cs_test_ann');
    assert.equal(fact.subscriptionId, 'sub_ann');
    assert.deepEqual(fact.lines, []);
    assert.ok(fact.occurredAt < only(stripeInvoicePaid(), 'payment').occurredAt);
  });

  test('tells who bought', () => {
    const fact = only(stripeCheckoutCompleted({ customerId: 'cus_1' }), 'customer');
    assert.deepEqual(fact, {
      kind: 'customer',
      customerId: 'cus_1',
      occurredAt: TEST_START,
      customer: ANN,
    });
  });
});

describe('an invoice', () => {
  for (const apiVersion of VERSIONS) {
    test(`of a new subscription is a purchase (${apiVersion})`, () => {
      const period = { startsAt: TEST_START, endsAt: new Date('2028-03-01T12:00:00.000Z') };
      const lines = [
        { itemId: 'si_1', priceId: 'price_yearly', quantity: 2, interval: 'year' },
      ] as const;
      const fact = only(stripeInvoicePaid({ apiVersion, period, lines }), 'payment');
      assert.deepEqual(fact, {
        kind: 'payment',
        transactionId: 'in_ann',
        aliases: apiVersion === 'basil' ? [] : ['pi_ann', 'ch_ann'],
        subscriptionId: 'sub_ann',
        origin: 'purchase',
        customerId: 'cus_ann',
        customer: { ...ANN, locale: null },
        occurredAt: TEST_START,
        period,
        lines: [
          {
            lineId: 'si_1',
            priceId: 'price_yearly',
            quantity: 2,
            cycle: { interval: 'year', frequency: 1 },
            total: null,
          },
        ],
        total: 1_000,
      });
    });

    test(`has no lines for what makes up for a change, and no rhythm for what is paid once (${apiVersion})`, () => {
      const lines = [
        { itemId: 'si_2', priceId: 'price_monthly' },
        { itemId: 'si_1', priceId: 'price_old', amount: -500, proration: true },
        { itemId: 'si_3', priceId: 'price_new', proration: true },
        { priceId: 'price_setup', interval: null },
      ];
      const fact = only(stripeInvoicePaid({ apiVersion, lines }), 'payment');
      assert.deepEqual(
        fact.lines.map(({ priceId, cycle }) => [priceId, cycle !== null]),
        [
          ['price_setup', false],
          ['price_monthly', true],
        ],
      );
    });
  }

  test('is what its reason says, and without a subscription only recorded', () => {
    const reasons = {
      subscription_create: 'purchase',
      subscription_cycle: 'renewal',
      subscription_update: 'change',
      manual: 'other',
      something_new: 'other',
    };
    for (const [reason, origin] of Object.entries(reasons)) {
      assert.equal(only(stripeInvoicePaid({ reason }), 'payment').origin, origin, reason);
    }
    assert.equal(only(stripeInvoicePaid({ subscriptionId: null }), 'payment').origin, 'other');
  });

  test('is told by an older word of its own which payment intent paid it', () => {
    const fact = only(stripeInvoicePaymentPaid(), 'payment');
    assert.equal(fact.transactionId, 'in_ann');
    assert.deepEqual(fact.aliases, ['pi_ann']);
    assert.ok(fact.occurredAt < only(stripeInvoicePaid(), 'payment').occurredAt);
  });
});

describe('a subscription', () => {
  for (const apiVersion of VERSIONS) {
    test(`is told with its period and positions (${apiVersion})`, () => {
      const lines = [{ itemId: 'si_1', priceId: 'price_monthly', quantity: 4 }];
      const fact = only(stripeSubscription('created', { apiVersion, lines }), 'subscription');
      assert.deepEqual(fact, {
        kind: 'subscription',
        subscriptionId: 'sub_ann',
        transactionId: 'in_ann',
        customerId: 'cus_ann',
        customer: { email: null, name: null, locale: null },
        occurredAt: TEST_START,
        status: 'active',
        period: { startsAt: TEST_START, endsAt: MONTH_END },
        pausedAt: null,
        canceledAt: null,
        scheduledChange: null,
        lines: [
          {
            lineId: 'si_1',
            priceId: 'price_monthly',
            quantity: 4,
            cycle: { interval: 'month', frequency: 1 },
            total: null,
          },
        ],
      });
    });
  }

  test('has a status of ours for each of theirs, and a period only while it runs', () => {
    const statuses = {
      active: 'active',
      trialing: 'trialing',
      past_due: 'past_due',
      incomplete: 'past_due',
      unpaid: 'paused',
      paused: 'paused',
      canceled: 'canceled',
      incomplete_expired: 'canceled',
    };
    for (const [status, expected] of Object.entries(statuses)) {
      const fact = only(stripeSubscription('updated', { status }), 'subscription');
      assert.equal(fact.status, expected, status);
      const runs = expected !== 'paused' && expected !== 'canceled';
      assert.equal(fact.period !== null, runs, status);
    }
    const unknown = read(stripeSubscription('updated', { status: 'something_new' }));
    assert.equal(unknown.ignoredBecause, 'The status of the subscription is not known.');
  });

  test('names its purchase only when it is created, for the latest invoice becomes a renewal', () => {
    const fact = only(stripeSubscription('updated', { invoiceId: 'in_2' }), 'subscription');
    assert.equal(fact.transactionId, null);
  });

  test('that ended did so when it ended, not when the end was asked for', () => {
    const object = { canceled_at: 1_800_000_000 };
    const fact = only(stripeSubscription('deleted', { object }), 'subscription');
    assert.deepEqual([fact.status, fact.canceledAt], ['canceled', TEST_START]);
  });

  test('is to end at the end of its period, or when it says', () => {
    const asked = { cancel_at_period_end: true, canceled_at: 1_800_000_000 };
    const first = only(stripeSubscription('updated', { object: asked }), 'subscription');
    assert.equal(first.status, 'active');
    assert.deepEqual(first.scheduledChange, { action: 'cancel', effectiveAt: MONTH_END });
    const object = { cancel_at: 1_900_000_000 };
    const second = only(stripeSubscription('updated', { object }), 'subscription');
    const effectiveAt = new Date(1_900_000_000_000);
    assert.deepEqual(second.scheduledChange, { action: 'cancel', effectiveAt });
  });

  test('rests while the seller cannot serve, and runs on where only the collection is paused', () => {
    const rests = only(stripeSubscription('updated', pause('void')), 'subscription');
    const effectiveAt = new Date(1_900_000_000_000);
    assert.equal(rests.status, 'paused');
    assert.deepEqual(rests.scheduledChange, { action: 'resume', effectiveAt });
    const runs = only(stripeSubscription('updated', pause('keep_as_draft')), 'subscription');
    assert.equal(runs.status, 'active');
  });

  test('that is paid by invoices sent proves no payment by its period', () => {
    const object = { collection_method: 'send_invoice' };
    assert.equal(only(stripeSubscription('created', { object }), 'subscription').period, null);
  });

  test('is told in order within one second: created, changed, ended', () => {
    const moments = (['created', 'updated', 'deleted'] as const).map((change) =>
      only(stripeSubscription(change), 'subscription').occurredAt.getTime(),
    );
    const start = TEST_START.getTime();
    assert.deepEqual(moments, [start, start + 1, start + 2]);
  });
});

describe('money back', () => {
  test('a refund names the payment intent and how much', () => {
    assert.deepEqual(only(stripeRefund('created', { amount: 400 }), 'adjustment'), {
      kind: 'adjustment',
      adjustmentId: 're_ann',
      transactionId: 'pi_ann',
      occurredAt: TEST_START,
      effect: 'refund',
      status: 'approved',
      full: null,
      total: 400,
      lines: [],
    });
  });

  test('a refund under way is pending', () => {
    for (const status of ['pending', 'requires_action', 'something_new']) {
      assert.equal(only(stripeRefund('created', { status }), 'adjustment').status, 'pending');
    }
  });

  test('a refund that failed is rejected, and so is the word that all went back', () => {
    const facts = read(stripeRefund('failed')).facts.map((fact) =>
      fact.kind === 'adjustment' ? [fact.adjustmentId, fact.status] : [],
    );
    assert.deepEqual(facts, [
      ['re_ann', 'rejected'],
      ['ch_ann', 'rejected'],
    ]);
  });

  test('is told in order within one second: under way, done, failed', () => {
    const moments = ['pending', 'succeeded', 'failed', 'canceled'].map((status) =>
      read(stripeRefund('updated', { status })).facts.map((fact) => fact.occurredAt.getTime()),
    );
    const start = TEST_START.getTime();
    assert.deepEqual(moments, [
      [start - 1],
      [start],
      [start + 1, start + 1],
      [start + 1, start + 1],
    ]);
    assert.equal(only(stripeChargeRefunded(), 'adjustment').occurredAt.getTime(), start);
  });

  test('a charge that went back as a whole says so without an amount; of a part the refunds tell', () => {
    const whole = only(stripeChargeRefunded(), 'adjustment');
    assert.deepEqual(
      [whole.adjustmentId, whole.transactionId, whole.full, whole.total],
      ['ch_ann', 'pi_ann', true, null],
    );
    const part = read(stripeChargeRefunded({ amount: 1 }));
    assert.equal(part.ignoredBecause, 'A part of the charge: refund.created tells how much.');
  });

  test('a dispute counts until it is won, an inquiry never', () => {
    const cases = [
      ['needs_response', 'chargeback', 'approved'],
      ['under_review', 'chargeback', 'approved'],
      ['lost', 'chargeback', 'approved'],
      ['won', 'chargeback', 'reversed'],
      ['warning_needs_response', 'none', 'approved'],
      ['warning_closed', 'none', 'approved'],
    ];
    for (const [status = '', ...expected] of cases) {
      const fact = only(stripeDispute('updated', { status }), 'adjustment');
      assert.deepEqual([fact.effect, fact.status], expected, status);
      assert.deepEqual([fact.adjustmentId, fact.transactionId], ['du_ann', 'pi_ann']);
    }
  });
});

test('a customer is told with address, name and first language', () => {
  assert.deepEqual(only(stripeCustomer('updated'), 'customer'), {
    kind: 'customer',
    customerId: 'cus_ann',
    occurredAt: TEST_START,
    customer: { ...ANN, locale: 'fr' },
  });
});

describe('what is not understood', () => {
  test('another type is ignored with the reason', () => {
    const { facts, ignoredBecause } = read({ ...stripeCustomer('updated'), type: 'invoice.sent' });
    assert.deepEqual([facts, ignoredBecause], [[], 'No license depends on invoice.sent.']);
  });

  test('a body without what every event has is malformed, with its id where there is one', () => {
    for (const [body, eventId] of [
      [{}, null],
      [null, null],
      [{ id: 'evt_1' }, 'evt_1'],
      [{ ...stripeCustomer('updated', { eventId: 'evt_1' }), created: -1 }, 'evt_1'],
    ]) {
      assert.throws(
        () => normalizeStripe(body),
        (error) => error instanceof MalformedEventError && error.eventId === eventId,
      );
    }
  });

  test('no JSON makes it throw anything else', () => {
    const samples = [
      stripeCheckoutCompleted(),
      stripeCheckoutCompleted({ subscriptionId: 'sub_1' }),
      ...VERSIONS.flatMap((apiVersion) => [
        stripeInvoicePaid({ apiVersion }),
        stripeSubscription('updated', { apiVersion }),
      ]),
      stripeInvoicePaymentPaid(),
      stripeRefund('failed'),
      stripeChargeRefunded(),
      stripeDispute('closed'),
      stripeCustomer('created'),
    ];
    const spoiled = fc.record({
      sample: fc.constantFrom(...samples),
      object: fc.dictionary(
        fc.constantFrom(...new Set(samples.flatMap(({ data }) => Object.keys(data.object)))),
        fc.jsonValue(),
      ),
    });
    const body = fc.oneof(
      fc.jsonValue(),
      spoiled.map(({ sample, object }) => ({
        ...sample,
        data: { object: { ...sample.data.object, ...object } },
      })),
    );
    fc.assert(
      fc.property(body, (drawn) => {
        try {
          normalizeStripe(JSON.parse(JSON.stringify(drawn)));
        } catch (error) {
          assert.ok(error instanceof MalformedEventError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
