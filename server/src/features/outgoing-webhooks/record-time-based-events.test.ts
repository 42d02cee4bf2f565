import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { startTestService, type LicenseFactsChange } from '../../../test/harness.ts';
import { DAY_MS, fromStart, SECOND_MS, TEST_START } from '../../../test/test-clock.ts';
import { extendLicense } from '../licenses/change-license.ts';
import { addEndpoint } from './add-endpoint.ts';
import { recordTimeBasedEvents } from './record-time-based-events.ts';
import { createWebhookTasks } from './background.ts';

const service = await startTestService();
const { context, pool } = service;
const change = { actor: 'test', reason: 'requested by a test' };
const inDays = (days: number): Date => new Date(TEST_START.getTime() + days * DAY_MS);

/** Transitions are recorded after this delay. */
const LAG_MS = 30 * SECOND_MS;

async function goTo(days: number): Promise<void> {
  service.clock.set(new Date(inDays(days).getTime() + LAG_MS));
  await recordTimeBasedEvents(context);
}

/** Returns the events of a license with their times. */
async function listRecorded(licenseId: string) {
  const { rows } = await pool.query(
    'select payload from webhook_messages where license_id = $1 order by created_at, id',
    [licenseId],
  );
  return rows.map(({ payload }) => {
    const { type, timestamp, data } = JSON.parse(payload);
    return [type, timestamp, data.previous_status, data.status];
  });
}

/** A recorded status change. */
function changed(days: number, from: string, to: string): string[] {
  return ['license.status_changed', fromStart(days * DAY_MS), from, to];
}

async function issueSilently(facts: LicenseFactsChange): Promise<string> {
  const { license } = await service.issue({ facts });
  await pool.query('truncate webhook_messages, webhook_deliveries');
  return license.id;
}

beforeEach(async () => {
  service.clock.set(TEST_START);
  await pool.query(
    'truncate licenses, webhook_endpoints, webhook_messages, webhook_deliveries, webhook_expiry_cursor',
  );
  await addEndpoint(
    context,
    { url: 'https://all.example.com/', eventTypes: [], description: null },
    change,
  );
  await recordTimeBasedEvents(context);
});

test('records the expiry of a license once, with its time', async () => {
  const id = await issueSilently({ expires_at: inDays(3) });
  await goTo(2.99);
  assert.deepEqual(await listRecorded(id), []);
  await goTo(3);
  await goTo(3);
  await goTo(4);
  assert.deepEqual(await listRecorded(id), [
    ['license.expired', fromStart(3 * DAY_MS), 'active', 'expired'],
  ]);
});

test('records past due, then expired after the grace period, also after an outage', async () => {
  const id = await issueSilently({ expires_at: inDays(3), subscription: true });
  await goTo(60);
  assert.deepEqual(await listRecorded(id), [
    ['license.status_changed', fromStart(3 * DAY_MS), 'active', 'past_due'],
    ['license.expired', fromStart(17 * DAY_MS), 'past_due', 'expired'],
  ]);
});

test('records scheduled cancellations and pauses when they take effect', async () => {
  const canceled = await issueSilently({ expires_at: inDays(9), canceled_at: inDays(2) });
  const paused = await issueSilently({ paused_at: inDays(2) });
  const scheduled = await issueSilently({
    expires_at: inDays(2),
    cancel_scheduled_for: inDays(5),
    subscription: true,
  });
  await goTo(30);
  assert.deepEqual(await listRecorded(canceled), [changed(2, 'active', 'canceled')]);
  assert.deepEqual(await listRecorded(paused), [changed(2, 'active', 'paused')]);
  assert.deepEqual(await listRecorded(scheduled), [
    changed(2, 'active', 'past_due'),
    ['license.expired', fromStart(5 * DAY_MS), 'past_due', 'expired'],
  ]);
});

test('records no expiry of a license that was renewed before', async () => {
  const id = await issueSilently({ expires_at: inDays(3) });
  service.clock.set(inDays(2));
  await extendLicense(context, { ...change, keyOrId: id }, { days: 30 });
  await goTo(4);
  assert.deepEqual(
    (await listRecorded(id)).map(([type]) => type),
    ['license.renewed'],
  );
});

test('records an expiry that an operator moved into the past once', async () => {
  const id = await issueSilently({ expires_at: inDays(30) });
  service.clock.set(inDays(3));
  await extendLicense(context, { ...change, keyOrId: id }, { until: inDays(1) });
  await goTo(4);
  assert.deepEqual(
    (await listRecorded(id)).map(([type]) => type),
    ['license.expired'],
  );
});

test('records several pages of expiries once from two processes', async () => {
  const ids = [];
  for (let count = 0; count < 3; count++) ids.push(await issueSilently({ expires_at: inDays(1) }));
  await pool.query(
    `insert into licenses (id, product_id, tier, features, max_activations, expires_at, key_sealed, key_hint, created_at)
     select gen_random_uuid(), product_id, tier, features, max_activations, expires_at, key_sealed, key_hint, created_at
     from licenses cross join generate_series(1, 400)`,
  );
  const other = await startTestService({ beside: service });
  service.clock.set(inDays(2));
  await Promise.all([recordTimeBasedEvents(context), recordTimeBasedEvents(other.context)]);
  const counts = await pool.query(
    `select count(*) as messages, count(distinct license_id) as licenses from webhook_messages`,
  );
  assert.deepEqual(counts.rows, [{ messages: 1_203, licenses: 1_203 }]);
});

test('records no expiry for an endpoint that is registered later', async () => {
  await pool.query('truncate webhook_endpoints');
  context.eventSubscriptions.invalidate();
  const id = await issueSilently({ expires_at: inDays(3) });
  await goTo(4);
  await addEndpoint(
    context,
    { url: 'https://late.example.com/', eventTypes: [], description: null },
    change,
  );
  await goTo(5);
  assert.deepEqual(await listRecorded(id), []);
});

test('removes messages after 30 days with their deliveries', async () => {
  await service.issue();
  service.clock.set(inDays(1));
  await service.issue();
  service.clock.set(inDays(30));
  const cleanup = createWebhookTasks(context).find(({ name }) => name === 'webhook_cleanup');
  const countAfterCleanup = async () => {
    await cleanup?.run(new AbortController().signal);
    return [await service.count('webhook_messages'), await service.count('webhook_deliveries')];
  };
  assert.deepEqual(await countAfterCleanup(), [2, 2]);
  service.clock.set(new Date(inDays(30).getTime() + 1));
  assert.deepEqual(await countAfterCleanup(), [1, 1]);
});
