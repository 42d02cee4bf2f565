import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  paddleAdjustment,
  paddleCustomer,
  paddleEvent,
  paddleSubscription,
  paddleTransaction,
  paddleTransactionCompleted,
} from '../../../../../test/payment-providers/paddle-events.ts';
import { MalformedEventError } from '../adapter.ts';

import { receive, normalize, assertIgnored, normalizePaddle } from './read-event.fixture.ts';

describe('normalizePaddle', () => {
  test('reads id, type and time, truncated to milliseconds', () => {
    const event = { ...paddleCustomer('created'), occurred_at: '2027-03-01T12:00:00.799627882Z' };
    const { provider, eventId, type, occurredAt } = normalize(event);
    assert.deepEqual(
      { provider, eventId, type, occurredAt },
      {
        provider: 'paddle',
        eventId: event.event_id,
        type: 'customer.created',
        occurredAt: new Date('2027-03-01T12:00:00.799Z'),
      },
    );
  });

  test('throws MalformedEventError without an id, a type or a time', () => {
    const event = paddleCustomer('created');
    const cases: [unknown, string | null][] = [
      [null, null],
      [[], null],
      ['event', null],
      [{}, null],
      [{ ...event, event_id: undefined }, null],
      [{ ...event, event_id: '' }, null],
      [{ ...event, event_id: 7 }, null],
      [{ ...event, event_id: 'evt_\0' }, null],
      [{ ...event, event_id: 'e'.repeat(201) }, null],
      [{ ...event, event_type: undefined }, event.event_id],
      [{ ...event, event_type: null }, event.event_id],
      [{ ...event, occurred_at: undefined }, event.event_id],
      [{ ...event, occurred_at: 'yesterday' }, event.event_id],
      [{ ...event, occurred_at: '0001-01-01T00:00:00Z' }, event.event_id],
    ];
    for (const [body, eventId] of cases) {
      assert.throws(
        () => normalizePaddle(body === null ? null : receive(body)),
        (error) => error instanceof MalformedEventError && error.header.eventId === eventId,
        JSON.stringify(body),
      );
    }
  });

  test('throws MalformedEventError if the data do not match the type', () => {
    for (const event of [
      { ...paddleTransactionCompleted(), data: undefined },
      { ...paddleTransactionCompleted(), data: [] },
      paddleTransactionCompleted({ data: { id: undefined } }),
      paddleTransactionCompleted({ data: { items: undefined } }),
      paddleTransactionCompleted({ data: { items: [{ price: null, quantity: 1 }] } }),
      paddleSubscription('created', { data: { status: undefined } }),
      paddleSubscription('created', { data: { items: {} } }),
      paddleAdjustment('created', { data: { transaction_id: null } }),
      paddleCustomer('created', { data: { id: undefined } }),
    ]) {
      assert.throws(
        () => normalizePaddle(receive(event)),
        (error) => error instanceof MalformedEventError && error.header.eventId === event.event_id,
        JSON.stringify(event.data),
      );
    }
  });

  test('ignores other types with a reason', () => {
    for (const type of [
      'created',
      'updated',
      'ready',
      'billed',
      'paid',
      'past_due',
      'payment_failed',
      'canceled',
      'revised',
    ] as const) {
      assertIgnored(paddleTransaction(type), 'A transaction counts only once it is completed.');
    }
    for (const type of ['address.created', 'product.updated', 'subscription.dreamt', 'toString']) {
      assertIgnored(paddleEvent(type, { id: null }), `No license depends on ${type}.`);
    }
    const { data, ...bare } = paddleEvent('price.created', {});
    assert.deepEqual(data, {});
    assert.deepEqual(normalizePaddle(bare).facts, []);
  });
});
