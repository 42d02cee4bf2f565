import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, test } from 'node:test';

import { retryDueEvents } from '#server/features/billing/stored-events.ts';

import { readBody } from '../../test/acceptance/bodies.ts';
import { emptyAuditLog } from '../../test/audit-log.ts';
import { runLatchkey, type CommandRun } from '../../test/command-line.ts';
import { startTestService, TEST_MASTER_SECRET, TEST_WEBHOOK_SECRETS } from '../../test/harness.ts';
import {
  paddleId,
  paddleTransactionCompleted,
  signPaddle,
} from '../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../test/payment-providers/paddle-steps.ts';
import { SECOND_MS } from '../../test/test-clock.ts';
import { currentActor } from './actor.ts';
import { checkPayments } from '#server/features/doctor/check-payments.ts';

const service = await startTestService();
const directory = await mkdtemp(join(tmpdir(), 'latchkey-dismiss-'));
after(() => rm(directory, { recursive: true }));
beforeEach(async () => {
  await service.pool.query('truncate billing_events');
  await emptyAuditLog(service.pool);
});

function run(...args: string[]): Promise<CommandRun> {
  const settings = { DATABASE_URL: service.database.url, LATCHKEY_SECRET: TEST_MASTER_SECRET };
  return runLatchkey(['webhook', ...args], { directory, settings });
}

async function insertEvent(eventId: string, status: string, provider = 'paddle'): Promise<void> {
  await service.pool.query(
    `insert into billing_events (event_id, provider, type, occurred_at, received_at, raw, headers, status, next_attempt_at)
     select $1, $2, 'x', $4, $4, '{}', '{}', $3, case $3 when 'deferred' then $4::timestamptz end`,
    [eventId, provider, status, service.clock.now()],
  );
}

async function readEvents(): Promise<unknown[]> {
  const { rows } = await service.pool.query(
    `select event_id, status, message, next_attempt_at from billing_events order by event_id`,
  );
  return rows;
}

async function readAudit(): Promise<unknown[]> {
  const { rows } = await service.pool.query(
    'select actor, action, subject_id, reason, details from audit_log order by occurred_at, id',
  );
  return rows;
}

/** The payment status in the health report and in doctor. */
async function readPaymentStatus(): Promise<unknown[]> {
  // The report is cached for a second.
  service.clock.advance(SECOND_MS);
  const report = readBody((await service.get('/api/v1/health')).body);
  const { status } = readBody(readBody(report['checks'])['payments']);
  const [finding] = await checkPayments(service.pool, { paddleApiKey: null }, service.clock.now());
  return [status, finding?.status];
}

/** Delivers a body with a valid signature that is not an event. */
async function deliverUnreadable(): Promise<void> {
  const [secret = ''] = TEST_WEBHOOK_SECRETS.paddle;
  const body = Buffer.from('nonsense');
  const headers = {
    'content-type': 'application/json',
    'billing-signature': signPaddle(body, secret, service.clock.now()),
  };
  const { status } = await service.send('POST', '/api/v1/webhooks/billing', { body, headers });
  assert.equal(status, 422);
}

const actor = currentActor();

test('dismisses an unreadable event until it is replayed by its id', async () => {
  await deliverUnreadable();
  const { rows } = await service.pool.query<{ event_id: string }>('select * from billing_events');
  const [kept = { event_id: '' }] = rows;
  assert.deepEqual(await readPaymentStatus(), ['degraded', 'warning']);

  const done = await run('dismiss', kept.event_id, '--reason', 'sent manually', '--json');
  assert.deepEqual([done.code, JSON.parse(done.stdout)], [0, { dismissed: 1 }]);
  const message = 'dismissed: sent manually';
  const dismissed = [{ ...kept, status: 'ignored', message }];
  const readAll = async () => (await service.pool.query('select * from billing_events')).rows;
  assert.deepEqual(await readAll(), dismissed);
  assert.deepEqual(await readPaymentStatus(), ['healthy', 'ok']);

  await deliverUnreadable();
  const others = await run('replay', '--status', 'ignored', '--reason', 'price added', '--json');
  assert.deepEqual([others.code, JSON.parse(others.stdout)], [0, []]);
  assert.deepEqual(await readAll(), dismissed);

  const again = await run('replay', kept.event_id, '--reason', 'one more look', '--json');
  assert.equal(JSON.parse(again.stdout)[0].status, 'failed');
  assert.deepEqual(await readPaymentStatus(), ['degraded', 'warning']);
  assert.deepEqual(await readAudit(), [
    {
      actor,
      action: 'webhook.dismiss',
      subject_id: kept.event_id,
      reason: 'sent manually',
      details: { dismissed: 1, status: null, provider: null },
    },
    {
      actor,
      action: 'webhook.replay',
      subject_id: kept.event_id,
      reason: 'one more look',
      details: { replayed: 1, status: null, provider: null },
    },
  ]);
});

test('applies a dismissed event when it is replayed by its id', async () => {
  const event = paddleTransactionCompleted({ eventId: paddleId('evt') });
  await deliverPaddle(service, event);
  await service.pool.query(`update billing_events set status = 'failed', message = 'a fault'`);
  assert.equal((await run('dismiss', event.event_id, '--reason', 'a test')).code, 0);
  const replayed = await run('replay', event.event_id, '--reason', 'no test');
  assert.match(replayed.stdout, /\bignored\b/u);
});

test('dismisses a deferred event, which is not retried any more', async () => {
  await insertEvent('evt_1', 'deferred');
  assert.equal((await run('dismiss', 'evt_1', '--reason', 'hopeless')).code, 0);
  assert.equal(await retryDueEvents(service.context, 10), 0);
  assert.deepEqual(await readEvents(), [
    {
      event_id: 'evt_1',
      status: 'ignored',
      message: 'dismissed: hopeless',
      next_attempt_at: null,
    },
  ]);
});

test('dismisses and counts the failed events of a provider', async () => {
  await insertEvent('evt_1', 'failed');
  await insertEvent('evt_2', 'failed');
  await insertEvent('evt_3', 'failed', 'stripe');
  await insertEvent('evt_4', 'deferred');
  await insertEvent('evt_5', 'processed');
  const all = ['dismiss', '--status', 'failed', '--provider', 'paddle', '--reason', 'a test'];
  const done = await run(...all, '--json');
  assert.deepEqual([done.code, JSON.parse(done.stdout)], [0, { dismissed: 2 }]);
  const again = await run(...all, '--json');
  assert.deepEqual([again.code, JSON.parse(again.stdout)], [0, { dismissed: 0 }]);
  const [message, untouched] = ['dismissed: a test', { message: null, next_attempt_at: null }];
  assert.deepEqual(await readEvents(), [
    { event_id: 'evt_1', status: 'ignored', message, next_attempt_at: null },
    { event_id: 'evt_2', status: 'ignored', message, next_attempt_at: null },
    { event_id: 'evt_3', status: 'failed', ...untouched },
    {
      event_id: 'evt_4',
      status: 'deferred',
      message: null,
      next_attempt_at: service.clock.now(),
    },
    { event_id: 'evt_5', status: 'processed', ...untouched },
  ]);
  assert.deepEqual(await readAudit(), [
    {
      actor,
      action: 'webhook.dismiss',
      subject_id: 'webhooks',
      reason: 'a test',
      details: { dismissed: 2, status: 'failed', provider: 'paddle' },
    },
  ]);
});

test('requires a selection and a reason, and dismisses no applied event', async () => {
  await insertEvent('evt_1', 'processed');
  const unclear = await run('dismiss', '--reason', 'r');
  assert.deepEqual([unclear.code, unclear.stdout], [2, '']);
  const silent = await run('dismiss', 'evt_1');
  assert.deepEqual([silent.code, silent.stdout], [2, '']);
  for (const eventId of ['evt_1', 'evt_nobody']) {
    const none = await run('dismiss', eventId, '--reason', 'r');
    assert.deepEqual([none.code, none.stdout], [1, '']);
  }
  assert.deepEqual(await readAudit(), []);
});
