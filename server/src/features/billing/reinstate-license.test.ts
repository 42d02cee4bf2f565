import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';
import { suspendLicense } from '#server/features/licenses/change-license.ts';

import { startTestService } from '../../../test/harness.ts';
import {
  paddleAdjustment,
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from '../../../test/payment-providers/paddle-events.ts';
import {
  deliverPaddle,
  createPaddlePurchase,
} from '../../../test/payment-providers/paddle-steps.ts';
import { takeQueuedWork } from '../../../test/take-queued-work.ts';
import { TEST_PRICES } from '../../../test/test-catalog.ts';
import { HOUR_MS } from '../../../test/test-clock.ts';
import { reinstateAndSend } from './reinstate-license.ts';
import { replayEvents } from './stored-events.ts';

const service = await startTestService();
const { context, pool } = service;
const by = { actor: 'tester', reason: 'a test' };
await addEndpoint(
  context,
  { url: 'https://all.example.com/', eventTypes: [], description: null },
  { actor: 'test', reason: null },
);

/** A purchase of several licenses by a known customer. */
async function buy(lines = [{ priceId: TEST_PRICES.personal }]) {
  const { transactionId, customerId } = createPaddlePurchase();
  const email = `${customerId}@example.org`;
  await deliverPaddle(service, paddleCustomer('created', { customerId, email }));
  await deliverPaddle(service, paddleTransactionCompleted({ transactionId, customerId, lines }));
  return transactionId;
}

/** Delivers an adjustment, an hour after the previous one. */
async function deliverAdjustment(
  transactionId: string,
  action: string,
  adjustmentId = paddleId('adj'),
) {
  service.clock.advance(HOUR_MS);
  const occurredAt = service.clock.now();
  const event = paddleAdjustment('created', { transactionId, action, adjustmentId, occurredAt });
  await deliverPaddle(service, event);
  return event;
}

async function listLicenses(transactionId: string) {
  const { rows } = await pool.query<{ id: string; disputed: boolean; suspended: boolean }>(
    `select id, disputed_at is not null as disputed, suspended_at is not null as suspended
     from licenses join billing_licenses made on made.license_id = id
     where made.transaction_id = $1 order by made.line_key`,
    [transactionId],
  );
  return rows;
}

async function listDisputed(transactionId: string): Promise<boolean[]> {
  return (await listLicenses(transactionId)).map(({ disputed }) => disputed);
}

async function reinstate(transactionId: string) {
  service.clock.advance(HOUR_MS);
  const [license] = await listLicenses(transactionId);
  return reinstateAndSend(context, { keyOrId: license?.id ?? '', ...by });
}

beforeEach(async () => {
  await takeQueuedWork(pool);
});

describe('an open dispute', () => {
  for (const action of ['chargeback_warning', 'chargeback']) {
    test(`is closed by a reinstatement, for all licenses of the payment: ${action}`, async () => {
      const transactionId = await buy([
        { priceId: TEST_PRICES.personal },
        { priceId: TEST_PRICES.personal },
      ]);
      await deliverAdjustment(transactionId, action);
      assert.deepEqual(await listDisputed(transactionId), [true, true]);
      await takeQueuedWork(pool);
      assert.equal((await reinstate(transactionId)).disputedAt, null);
      assert.deepEqual(await listDisputed(transactionId), [false, false]);
      assert.deepEqual(await takeQueuedWork(pool), {
        messages: ['license.status_changed', 'license.status_changed'],
        jobs: [`send_key_email:paddle:${transactionId}`],
      });
    });
  }

  test('stays closed after a duplicate and a replay', async () => {
    const transactionId = await buy();
    const event = await deliverAdjustment(transactionId, 'chargeback_warning');
    await reinstate(transactionId);
    await deliverPaddle(service, { ...event, event_id: paddleId('evt') });
    const filter = { eventId: event.event_id, status: null, provider: null, since: null };
    await replayEvents(context, { filter, ...by }, () => {});
    assert.deepEqual(await listDisputed(transactionId), [false]);
  });

  test('leaves a later chargeback and its reversal effective', async () => {
    const transactionId = await buy();
    await deliverAdjustment(transactionId, 'chargeback_warning');
    await reinstate(transactionId);
    await deliverAdjustment(transactionId, 'chargeback');
    assert.deepEqual(await listDisputed(transactionId), [true]);
    await deliverAdjustment(transactionId, 'chargeback_reverse');
    assert.deepEqual(await listDisputed(transactionId), [false]);
    await deliverAdjustment(transactionId, 'chargeback_warning_reverse');
    assert.deepEqual(await listDisputed(transactionId), [false]);
  });

  test('reopens when the provider reports it again', async () => {
    const transactionId = await buy();
    const adjustmentId = paddleId('adj');
    await deliverAdjustment(transactionId, 'chargeback', adjustmentId);
    await reinstate(transactionId);
    await deliverAdjustment(transactionId, 'chargeback', adjustmentId);
    assert.deepEqual(await listDisputed(transactionId), [true]);
  });

  test('does not reopen another dispute that was reversed', async () => {
    const transactionId = await buy();
    await deliverAdjustment(transactionId, 'chargeback');
    await deliverAdjustment(transactionId, 'chargeback_reverse');
    await deliverAdjustment(transactionId, 'chargeback');
    await reinstate(transactionId);
    assert.deepEqual(await listDisputed(transactionId), [false]);
  });

  test('is closed even if the clock of the provider is ahead', async () => {
    const transactionId = await buy();
    const occurredAt = new Date(service.clock.now().getTime() + 5 * HOUR_MS);
    const about = { transactionId, action: 'chargeback_warning', occurredAt };
    await deliverPaddle(service, paddleAdjustment('created', about));
    await reinstate(transactionId);
    assert.deepEqual(await listDisputed(transactionId), [false]);
  });
});

test('reinstates a license that is both suspended and disputed, but keeps a refund', async () => {
  const transactionId = await buy();
  const [license] = await listLicenses(transactionId);
  await suspendLicense(context, { keyOrId: license?.id ?? '', ...by });
  await deliverAdjustment(transactionId, 'chargeback');
  await deliverAdjustment(transactionId, 'refund');
  const reinstated = await reinstate(transactionId);
  assert.deepEqual([reinstated.suspendedAt, reinstated.disputedAt], [null, null]);
  assert.notEqual(reinstated.refundedAt, null);
});
