import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';

import { inTransaction } from '#server/db/transaction.ts';

import { startTestService } from '../../../test/harness.ts';
import { activate, anyMachine, deactivate, startTrial } from '../../../test/license-steps.ts';
import { DAY_MS, TEST_START, fromStart } from '../../../test/test-clock.ts';
import { extendLicense, reinstateLicense, suspendLicense } from '../licenses/change-license.ts';
import { addEndpoint } from './add-endpoint.ts';
import { disableEndpoint, enableEndpoint, removeEndpoint } from './manage-endpoints.ts';
import { recordEvents } from './record-events.ts';
import type { EventType } from './rules/payload.ts';

const service = await startTestService();
const { context, pool } = service;
const change = { actor: 'test', reason: 'requested by a test' };

function register(url: string, eventTypes: readonly EventType[] = []) {
  return addEndpoint(context, { url, eventTypes, description: null }, change);
}

/** Returns the recorded messages in order, with their endpoints. */
async function listRecorded() {
  const { rows } = await pool.query(
    `select m.type, m.payload, array_agg(e.url order by e.url) as urls
     from webhook_messages m
     join webhook_deliveries d on d.message_id = m.id
     join webhook_endpoints e on e.id = d.endpoint_id
     where d.state = 'pending' and d.attempts = 0
     group by m.id order by m.id`,
  );
  return rows.map(({ type, payload, urls }) => ({ type, urls, ...JSON.parse(payload) }));
}

beforeEach(async () => {
  service.clock.set(TEST_START);
  await pool.query('truncate webhook_endpoints, webhook_messages, webhook_deliveries');
  context.eventSubscriptions.invalidate();
});

test('records nothing without subscribers', async () => {
  const { licenseKey } = await service.issue();
  await activate(service, licenseKey);
  assert.equal(await service.count('webhook_messages'), 0);
});

test('records messages only for subscribed types', async () => {
  await register('https://one.example.com/', ['license.created', 'trial.started']);
  await register('https://two.example.com/', ['activation.added']);
  await register('https://all.example.com/');
  const { licenseKey } = await service.issue();
  await activate(service, licenseKey);
  assert.deepEqual(
    (await listRecorded()).map(({ type, urls }) => [type, urls]),
    [
      ['license.created', ['https://all.example.com/', 'https://one.example.com/']],
      ['activation.added', ['https://all.example.com/', 'https://two.example.com/']],
    ],
  );
});

test('the payload contains the license, a key hint, and a known e-mail address', async () => {
  await register('https://all.example.com/');
  const { license, licenseKey } = await service.issue({
    productId: 'yearly',
    customerEmail: 'ann@example.com',
  });
  const machine = anyMachine();
  const { activation_id } = await activate(service, licenseKey, machine);
  await deactivate(service, licenseKey, activation_id, machine.machine_id);
  const data = {
    license_id: license.id,
    key_hint: licenseKey.slice(-license.keyHint.length),
    product: 'yearly',
    tier: 'pro',
    trial: false,
    status: 'active',
    expires_at: fromStart(365 * DAY_MS),
    customer_email: 'ann@example.com',
  };
  const urls = ['https://all.example.com/'];
  const timestamp = TEST_START.toISOString();
  assert.deepEqual(await listRecorded(), [
    { type: 'license.created', timestamp, urls, data },
    { type: 'activation.added', timestamp, urls, data: { ...data, activation_id } },
    { type: 'activation.removed', timestamp, urls, data: { ...data, activation_id } },
  ]);

  await pool.query('truncate webhook_messages, webhook_deliveries');
  await service.issue();
  const [recorded] = await listRecorded();
  assert.equal(recorded?.data.customer_email, undefined);
  assert.equal(recorded?.data.status, 'active');
});

test('records a trial once, however often it is started', async () => {
  await register('https://all.example.com/');
  const machine = anyMachine();
  const { activation_id } = await startTrial(service, machine);
  await startTrial(service, machine);
  const [started, ...others] = await listRecorded();
  assert.deepEqual(others, []);
  const { license_id: _, key_hint: __, ...data } = started?.data ?? {};
  assert.equal(started?.type, 'trial.started');
  assert.deepEqual(data, {
    product: 'personal',
    tier: 'trial',
    trial: true,
    status: 'active',
    expires_at: fromStart(7 * DAY_MS),
    activation_id,
  });
});

test('records manual changes with the previous state', async () => {
  const { license } = await service.issue({ productId: 'yearly' });
  await register('https://all.example.com/');
  const byHand = { ...change, keyOrId: license.id };
  await extendLicense(context, byHand, { days: 5 });
  await suspendLicense(context, byHand);
  await suspendLicense(context, byHand);
  await reinstateLicense(context, byHand);
  const recorded = await listRecorded();
  assert.deepEqual(
    recorded.map(({ type, data }) => [
      type,
      data.status,
      data.previous_status ?? data.previous_expires_at,
    ]),
    [
      ['license.renewed', 'active', fromStart(365 * DAY_MS)],
      ['license.status_changed', 'suspended', 'active'],
      ['license.status_changed', 'active', 'suspended'],
    ],
  );
});

test('records no event for a reactivated machine', async () => {
  await register('https://all.example.com/', ['activation.added']);
  const { licenseKey } = await service.issue();
  const machine = anyMachine();
  await activate(service, licenseKey, machine);
  await activate(service, licenseKey, machine);
  assert.equal((await listRecorded()).length, 1);
});

test('records nothing after a rollback', async () => {
  await register('https://all.example.com/');
  const { license } = await service.issue();
  await pool.query('truncate webhook_messages, webhook_deliveries');
  const failing = inTransaction(pool, async (client) => {
    await recordEvents(
      context,
      client,
      [{ type: 'license.created', license }],
      context.clock.now(),
    );
    throw new Error('no');
  });
  await assert.rejects(failing, /^Error: no$/);
  assert.equal(await service.count('webhook_messages'), 0);
});

test('records an event with the same id once', async () => {
  await register('https://all.example.com/');
  const { license } = await service.issue();
  await pool.query('truncate webhook_messages, webhook_deliveries');
  const event = { type: 'license.expired', license, messageId: 'msg_1' } as const;
  await recordEvents(context, pool, [event], context.clock.now());
  await recordEvents(context, pool, [event], context.clock.now());
  assert.equal((await listRecorded()).length, 1);
});

test('records nothing for disabled and removed endpoints', async () => {
  const { endpoint } = await register('https://all.example.com/');
  const named = { ...change, idOrUrl: endpoint.id };
  await disableEndpoint(context, named);
  await service.issue();
  assert.equal(await service.count('webhook_messages'), 0);
  await enableEndpoint(context, named);
  await service.issue();
  assert.equal(await service.count('webhook_messages'), 1);
  await removeEndpoint(context, { ...change, idOrUrl: endpoint.url });
  await service.issue();
  assert.equal(await service.count('webhook_messages'), 1);
});

test('another process records events for a new endpoint within five seconds', async () => {
  const other = await startTestService({ beside: service });
  await other.issue();
  await register('https://all.example.com/');
  service.clock.advance(4_999);
  await other.issue();
  assert.equal(await service.count('webhook_messages'), 0);
  service.clock.advance(1);
  await other.issue();
  assert.equal(await service.count('webhook_messages'), 1);
});
