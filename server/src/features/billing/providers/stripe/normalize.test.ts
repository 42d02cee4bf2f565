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
} from '../../../../../test/payment-providers/stripe-events.ts';
import { TEST_START } from '../../../../../test/test-clock.ts';
import { MalformedEventError } from '../adapter.ts';

import { ANN, VERSIONS, read, only, normalizeStripe } from './read-event.fixture.ts';

test('translates a customer with address, name and first language', () => {
  assert.deepEqual(only(stripeCustomer('updated'), 'customer'), {
    kind: 'customer',
    customerId: 'cus_ann',
    occurredAt: TEST_START,
    customer: { ...ANN, locale: 'fr' },
  });
});

describe('unreadable events', () => {
  test('are ignored with a reason if their type is unknown', () => {
    const { facts, ignoredBecause } = read({ ...stripeCustomer('updated'), type: 'invoice.sent' });
    assert.deepEqual([facts, ignoredBecause], [[], 'No license depends on invoice.sent.']);
  });

  test('are malformed without the common fields, with their id if readable', () => {
    for (const [body, eventId] of [
      [{}, null],
      [null, null],
      [{ id: 'evt_1' }, 'evt_1'],
      [{ ...stripeCustomer('updated', { eventId: 'evt_1' }), created: -1 }, 'evt_1'],
    ]) {
      assert.throws(
        () => normalizeStripe(body),
        (error) => error instanceof MalformedEventError && error.header.eventId === eventId,
      );
    }
  });

  test('throw only MalformedEventError for any JSON', () => {
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
