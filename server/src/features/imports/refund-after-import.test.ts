import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startTestService } from '../../../test/harness.ts';
import { paddleAdjustment } from '../../../test/payment-providers/paddle-events.ts';
import { deliverPaddle } from '../../../test/payment-providers/paddle-steps.ts';
import { testCatalog } from '../../../test/test-catalog.ts';
import { replayOne } from '../billing/change-payment-events.ts';
import { foreign, runImport } from './import-steps.fixture.ts';
import { CATALOG } from './provider-shops.fixture.ts';

const service = await startTestService({ catalog: testCatalog(CATALOG) });
const { context, pool } = service;

/** Imports a license that a transaction paid elsewhere, and returns its id. */
async function importPaid(transactionId: string): Promise<string> {
  const row = foreign({
    products: [{ id: 'team', name: null }],
    licenseKey: crypto.randomUUID().toUpperCase(),
    provider: 'paddle',
    transactionId,
  });
  await runImport(context, [row]);
  const { rows } = await pool.query<{ license_id: string }>(
    'select license_id from license_names where name = $1',
    [transactionId],
  );
  return rows[0]?.license_id ?? assert.fail('nothing was imported');
}

/** Returns what an event reports. */
async function readMessage(eventId: string): Promise<string | null> {
  const { rows } = await pool.query<{ message: string | null }>(
    'select message from billing_events where event_id = $1',
    [eventId],
  );
  return rows[0]?.message ?? null;
}

test('reports the refund of a payment that paid an imported license elsewhere, until the license is revoked', async () => {
  const transactionId = 'txn_01before_the_move';
  const licenseId = await importPaid(transactionId);
  const refund = paddleAdjustment('created', { transactionId });
  await deliverPaddle(service, refund);
  const message = await readMessage(refund.event_id);
  assert.match(message ?? '', /^Needs attention: it pays back what was paid for the license /u);
  assert.ok(message?.includes(licenseId));

  await pool.query('update licenses set revoked_at = now() where id = $1', [licenseId]);
  const key = { provider: 'paddle', event_id: refund.event_id };
  await replayOne(context, key, { actor: 'cli:test', reason: 'revoked' });
  assert.equal(await readMessage(refund.event_id), null);
});

test('reports the dispute of a payment that paid an imported license elsewhere, until it is won', async () => {
  const transactionId = 'txn_02before_the_move';
  await importPaid(transactionId);
  const dispute = paddleAdjustment('created', { transactionId, action: 'chargeback' });
  await deliverPaddle(service, dispute);
  assert.match((await readMessage(dispute.event_id)) ?? '', /^Needs attention: it disputes what/u);

  await deliverPaddle(
    service,
    paddleAdjustment('created', { transactionId, action: 'chargeback_reverse' }),
  );
  assert.equal(await readMessage(dispute.event_id), null);
});

test('reports no refund of a payment that paid nothing that is known', async () => {
  const refund = paddleAdjustment('created', { transactionId: 'txn_of_a_book' });
  await deliverPaddle(service, refund);
  assert.equal(await readMessage(refund.event_id), null);
});
