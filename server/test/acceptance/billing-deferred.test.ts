import assert from 'node:assert/strict';
import { test } from 'node:test';

import { replayEvents, retryDueEvents } from '#server/features/billing/stored-events.ts';

import { startTestService } from '../harness.ts';
import {
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import { deliverPaddle, createPaddlePurchase } from '../payment-providers/paddle-steps.ts';
import { HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { readBody } from './bodies.ts';

const service = await startTestService();

function minutesLater(minutes: number): Date {
  return new Date(TEST_START.getTime() + minutes * 60 * SECOND_MS);
}

test('deferred: stores an event that does not match its type, with type and time', async () => {
  const eventId = paddleId('evt');
  const occurredAt = new Date(service.clock.now().getTime() - HOUR_MS);
  const sound = paddleTransactionCompleted({ eventId, occurredAt });
  const event = { ...sound, data: { ...sound.data, items: 'nothing' } };
  assert.deepEqual((await deliverPaddle(service, event)).body, {
    status: 'deferred',
    message:
      'The event is stored; it does not match its type: The data of transaction.completed are wrong at data.items.',
    event_id: eventId,
  });
  const { rows } = await service.pool.query(
    `select type, occurred_at, status, convert_from(raw, 'UTF8') as raw from billing_events where event_id = $1`,
    [eventId],
  );
  const header = { type: 'transaction.completed', occurred_at: occurredAt };
  assert.deepEqual(rows, [{ ...header, status: 'failed', raw: JSON.stringify(event) }]);
  assert.equal(readBody((await deliverPaddle(service, event)).body)['status'], 'duplicate');
});

test('deferred: an event from the future grants nothing until its time has come', async () => {
  const purchase = createPaddlePurchase().once;
  const tomorrow = minutesLater(24 * 60);
  const inTime = paddleTransactionCompleted({
    ...createPaddlePurchase().once,
    occurredAt: tomorrow,
  });
  assert.equal(readBody((await deliverPaddle(service, inTime)).body)['status'], 'processed');
  const later = minutesLater(24 * 60 + 1);
  const event = paddleTransactionCompleted({ ...purchase, occurredAt: later });
  const { status, message } = readBody((await deliverPaddle(service, event)).body);
  assert.equal(status, 'deferred');
  assert.match(String(message), /is dated .*, which is in the future\. Check the clock/);
  const replay = async () => {
    const outcomes: unknown[] = [];
    const filter = { eventId: event.event_id, status: null, provider: null, since: null };
    const selection = { filter, actor: 'anna', reason: 'test' };
    await replayEvents(service.context, selection, (outcome) => outcomes.push(outcome.status));
    return outcomes;
  };
  assert.deepEqual(await replay(), ['failed']);
  service.clock.set(later);
  assert.deepEqual(await replay(), ['processed']);
  service.clock.set(TEST_START);
});

test('deferred: retries an event that the database rejects, and processes the others of its batch', async () => {
  const { pool, context } = service;
  await pool.query(`alter table billing_customers add constraint no_bob check (name <> 'Bob')`);
  const bad = paddleCustomer('created', { customerId: paddleId('ctm'), name: 'Bob' });
  const events = [
    bad,
    ...[1, 2, 3].map(() => paddleTransactionCompleted(createPaddlePurchase().once)),
  ];
  const answers = await Promise.all(events.map((event) => deliverPaddle(service, event)));
  assert.deepEqual(
    answers.map(({ body }) => readBody(body)['status']),
    ['deferred', 'processed', 'processed', 'processed'],
  );
  const read = async () => {
    const { rows } = await pool.query<Record<string, unknown>>(
      'select status, attempts, next_attempt_at from billing_events where event_id = $1',
      [bad.event_id],
    );
    return rows[0];
  };
  assert.equal(await retryDueEvents(context, 10), 0);
  assert.deepEqual(await read(), {
    status: 'deferred',
    attempts: 1,
    next_attempt_at: minutesLater(1),
  });
  service.clock.set(minutesLater(1));
  assert.equal(await retryDueEvents(context, 10), 1);
  assert.deepEqual(await read(), {
    status: 'deferred',
    attempts: 2,
    next_attempt_at: minutesLater(3),
  });
  await pool.query('alter table billing_customers drop constraint no_bob');
  service.clock.set(minutesLater(3));
  assert.equal(await retryDueEvents(context, 10), 1);
  assert.deepEqual(await read(), { status: 'processed', attempts: 3, next_attempt_at: null });
  service.clock.set(TEST_START);
});
