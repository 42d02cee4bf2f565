import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import {
  answerJson,
  answerLog,
  startPaddleApiStub,
} from '../../../test/payment-providers/paddle-api-stub.ts';
import {
  paddleEvent,
  paddleId,
  paddleTransactionCompleted,
  type PaddleEvent,
} from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../../../test/test-catalog.ts';
import { createTestClock, HOUR_MS } from '../../../test/test-clock.ts';
import { createPaddleApi, type PaddleApi } from './providers/paddle/paddle-api.ts';
import { ProviderApiError } from './providers/provider-api.ts';
import { findReconciliation } from './queries/reconciliations.ts';
import { reconcilePaddle } from './reconcile.ts';

const paddleLog: PaddleEvent[] = [];
const paddle = await startPaddleApiStub();
paddle.answer = answerLog(paddleLog);
const { url } = paddle;
const clock = createTestClock();
const paddleApi = createPaddleApi({ url, apiKey: 'key', clock });
const service = await startTestService({ clock, paddleApi });
const { context } = service;

/** A purchase now, which Paddle's log contains. */
function purchase(name: string): PaddleEvent {
  const event = paddleTransactionCompleted({
    transactionId: paddleId('txn', name),
    lines: [{ priceId: TEST_PRICES.personal }],
    occurredAt: clock.now(),
  });
  paddleLog.push(event);
  return event;
}

const reconcile = () => reconcilePaddle(context, { actor: 'ann' });

test('fetches nothing before the first event was received', async () => {
  purchase('before');
  clock.advance(2 * HOUR_MS);
  assert.equal(await reconcile(), null);
  assert.equal(await service.count('licenses'), 0);
});

test('applies missed events once, and logs and audits them', async () => {
  const [first, lost, alsoLost, last] = [
    purchase('first'),
    purchase('lost'),
    purchase('also-lost'),
    purchase('last'),
  ];
  await deliverPaddle(service, first);
  clock.advance(1_000);
  await deliverPaddle(service, last);
  clock.advance(2 * HOUR_MS);
  const repaired = [lost, alsoLost].map((event) => ({
    eventId: event.event_id,
    type: 'transaction.completed',
    status: 'processed',
  }));
  assert.deepEqual(await reconcile(), { compared: 3, repaired, reachedEnd: true });
  assert.equal(await service.count('licenses'), 4);
  assert.deepEqual(await reconcile(), { compared: 0, repaired: [], reachedEnd: true });
  await deliverPaddle(service, lost);
  assert.equal(await service.count('licenses'), 4, 'a webhook that comes after all is a duplicate');
  const { rows } = await service.pool.query(
    `select actor, subject_id, details from audit_log where action = 'webhook.reconcile'`,
  );
  assert.deepEqual(rows, [{ actor: 'ann', subject_id: 'paddle', details: { repaired: 2 } }]);
  assert.ok(service.log.some((line) => line.includes('payments.missed_events_applied')));
});

test('skips events whose webhooks may still arrive', async () => {
  const before = await service.count('licenses');
  purchase('young');
  assert.deepEqual(await reconcile(), { compared: 0, repaired: [], reachedEnd: true });
  assert.equal(await service.count('licenses'), before);
  clock.advance(2 * HOUR_MS);
  assert.equal((await reconcile())?.repaired.length, 1);
  assert.equal(await service.count('licenses'), before + 1);
});

test('stores events of types without subscription, without reporting them', async () => {
  const rows = await service.count('audit_log');
  const lines = service.log.length;
  paddleLog.push(paddleEvent('address.created', { id: 'add_1' }, { occurredAt: clock.now() }));
  clock.advance(2 * HOUR_MS);
  assert.deepEqual(await reconcile(), { compared: 1, repaired: [], reachedEnd: true });
  assert.equal(await service.count('audit_log'), rows);
  assert.deepEqual(service.log.slice(lines), []);
  const { rows: stored } = await service.pool.query(
    `select status from billing_events where type = 'address.created'`,
  );
  assert.deepEqual(stored, [{ status: 'ignored' }]);
});

test('stores a failure, and continues at the cursor after it', async () => {
  const before = await service.count('licenses');
  purchase('missed');
  clock.advance(2 * HOUR_MS);
  const reconciledAt = (await findReconciliation(context.pool, 'paddle'))?.reconciledAt ?? null;
  assert.ok(reconciledAt !== null);
  paddle.answer = answerJson(500, {});
  await assert.rejects(reconcile(), ProviderApiError);
  const failed = await findReconciliation(context.pool, 'paddle');
  const failedAt = clock.now();
  assert.deepEqual(failed, { reconciledAt, failedAt, failure: 'Paddle answers 500' });
  paddle.answer = answerLog(paddleLog);
  clock.advance(HOUR_MS);
  assert.equal((await reconcile())?.compared, 1);
  assert.deepEqual(await findReconciliation(context.pool, 'paddle'), {
    reconciledAt: clock.now(),
    failedAt: null,
    failure: null,
  });
  assert.equal(await service.count('licenses'), before + 1);
});

test('a comparison with since moves no cursor and stores no result', async () => {
  const before = await service.count('licenses');
  const older = purchase('older');
  clock.advance(72 * HOUR_MS);
  const newer = purchase('newer');
  clock.advance(2 * HOUR_MS);
  const record = await findReconciliation(context.pool, 'paddle');
  const since = new Date(clock.now().getTime() - 24 * HOUR_MS);
  const recent = await reconcilePaddle(context, { actor: 'ann', since });
  assert.deepEqual(
    recent?.repaired.map(({ eventId }) => eventId),
    [newer.event_id],
  );
  assert.deepEqual(await findReconciliation(context.pool, 'paddle'), record);
  const rest = await reconcile();
  assert.deepEqual(
    rest?.repaired.map(({ eventId }) => eventId),
    [older.event_id],
  );
  assert.equal(await service.count('licenses'), before + 2);
});

test('a first comparison with since leaves the next one to start at the first event', async () => {
  await service.pool.query('delete from billing_reconciliations');
  const before = await service.count('licenses');
  purchase('before-any');
  clock.advance(72 * HOUR_MS);
  const since = new Date(clock.now().getTime() - HOUR_MS);
  assert.deepEqual(await reconcilePaddle(context, { actor: 'ann', since }), {
    compared: 0,
    repaired: [],
    reachedEnd: true,
  });
  assert.equal((await reconcile())?.repaired.length, 1);
  assert.equal(await service.count('licenses'), before + 1);
});

/** A log with one event per page after the cursor. */
function logOf(count: number): PaddleApi {
  const at = clock.now();
  const events = Array.from({ length: count }, (_, index) => {
    const event = paddleEvent('address.created', { id: `add_${index}` }, { occurredAt: at });
    return { eventId: event.event_id, type: event.event_type, occurredAt: at, body: event };
  });
  return {
    findCustomer: async () => null,
    listEvents: async (after) => {
      const start = events.findIndex(({ eventId }) => eventId === after) + 1;
      return events.slice(start, start + 1);
    },
  };
}

test('a longer log is compared to its end by several comparisons', async () => {
  const longer = { ...context, paddleApi: logOf(25) };
  clock.advance(2 * HOUR_MS);
  paddle.answer = answerJson(500, {});
  await assert.rejects(reconcile(), ProviderApiError);
  const before = await findReconciliation(context.pool, 'paddle');
  const ends: unknown[] = [];
  const goOn = async () => {
    clock.advance(1_000);
    const found = await reconcilePaddle(longer, { actor: 'ann' });
    ends.push([
      found?.compared,
      found?.reachedEnd,
      await findReconciliation(context.pool, 'paddle'),
    ]);
  };
  await goOn();
  await goOn();
  await goOn();
  const answered = { reconciledAt: before?.reconciledAt, failedAt: null, failure: null };
  assert.deepEqual(ends, [
    [10, false, answered],
    [10, false, answered],
    [5, true, { ...answered, reconciledAt: clock.now() }],
  ]);
});

test('an unlimited comparison continues to the end of the log', async () => {
  const longer = { ...context, paddleApi: logOf(70) };
  clock.advance(2 * HOUR_MS);
  const { compared, reachedEnd } =
    (await reconcilePaddle(longer, { actor: 'ann', unlimited: true })) ?? {};
  assert.deepEqual([compared, reachedEnd], [70, true]);
});

test('throws if the log repeats an event', async () => {
  const [event] = await logOf(1).listEvents(null);
  assert.ok(event !== undefined);
  clock.advance(2 * HOUR_MS);
  const turning = { findCustomer: async () => null, listEvents: async () => [event] };
  const endless = reconcilePaddle(
    { ...context, paddleApi: turning },
    { actor: 'ann', unlimited: true },
  );
  await assert.rejects(endless, new ProviderApiError('Paddle repeats an event in its log'));
});
