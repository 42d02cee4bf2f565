import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { Type, type Static } from 'typebox';
import { Parse } from 'typebox/value';

import { addEndpoint } from '#server/features/outgoing-webhooks/add-endpoint.ts';

import { startTestService } from '../harness.ts';
import { activate, startTrial } from '../license-steps.ts';
import { openBrowser, type Browser } from '../operator-steps.ts';
import {
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import { deliverPaddle } from '../payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../test-catalog.ts';
import { TEST_START } from '../test-clock.ts';
import { problem, validationErrorsOf } from './bodies.ts';

const service = await startTestService();
const viewer = await openBrowser(service, 'viewer');

const Results = Type.Object({
  items: Type.Array(
    Type.Object({
      kind: Type.String(),
      id: Type.String(),
      title: Type.String(),
      detail: Type.Union([Type.String(), Type.Null()]),
      status: Type.Union([Type.String(), Type.Null()]),
      path: Type.String(),
    }),
  ),
  more: Type.Boolean(),
});

async function search(q: string, browser: Browser = viewer): Promise<Static<typeof Results>> {
  const answer = await browser.get(`/api/v1/admin/search?${new URLSearchParams({ q }).toString()}`);
  assert.equal(answer.status, 200, answer.text);
  return Parse(Results, answer.body);
}

/** Returns the kinds and ids of the hits. */
async function find(q: string): Promise<string[]> {
  return (await search(q)).items.map(({ kind, id }) => `${kind} ${id}`);
}

describe('200: licenses', () => {
  test('finds a license by its key in any spelling, without showing the key', async () => {
    const customerEmail = `ada-${randomUUID()}@example.com`;
    const { license, licenseKey } = await service.issue({ customerEmail });
    const [prefix = '', ...groups] = licenseKey.split('-');
    for (const q of [licenseKey, licenseKey.toLowerCase(), groups.join(''), ` ${licenseKey} `]) {
      const { items, more } = await search(q);
      assert.deepEqual([items.length, more], [1, false], q);
      assert.doesNotMatch(JSON.stringify(items), new RegExp(groups.join('|'), 'u'));
      assert.deepEqual(items[0], {
        kind: 'license',
        id: license.id,
        title: `Personal …${licenseKey.slice(-4)}`,
        detail: customerEmail,
        status: 'active',
        at: TEST_START.toISOString(),
        path: `/licenses/${license.id}`,
      });
    }
    const hint = licenseKey.slice(-4);
    for (const q of [hint, hint.toLowerCase(), `…${hint}`, `${prefix}-…-${hint}`]) {
      assert.ok((await find(q)).includes(`license ${license.id}`), q);
    }
  });

  test('finds an imported key as a whole', async () => {
    const licenseKey = `FOREIGN ${randomUUID()}`;
    const { license } = await service.issue({ licenseKey });
    assert.deepEqual(await find(licenseKey), [`license ${license.id}`]);
    assert.deepEqual(await find(licenseKey.slice(0, -1)), []);
  });

  test('finds a license by its id and its first digits', async () => {
    const { license } = await service.issue();
    for (const q of [license.id, license.id.toUpperCase(), license.id.replaceAll('-', '')]) {
      assert.deepEqual(await find(q), [`license ${license.id}`]);
    }
    const { items, more } = await search(license.id.slice(0, 13));
    assert.ok(items.some(({ id }) => id === license.id) || more);
  });
});

describe('200: customers', () => {
  test('finds an address in any case, and by its beginning; the only one with its licenses', async () => {
    const mark = randomUUID();
    const [ada, bob] = [`Ada-${mark}@example.com`, `bob-${mark}@example.com`];
    const first = await service.issue({ customerEmail: ada });
    const second = await service.issue({ customerEmail: ada });
    await service.issue({ customerEmail: bob });
    await service.post('/api/v1/subscribers', { email: ada });
    const address = ada.toLowerCase();
    const expected = [
      `license ${second.license.id}`,
      `license ${first.license.id}`,
      `customer ${address}`,
    ];
    for (const q of [ada, address, `ADA-${mark}`]) assert.deepEqual(await find(q), expected);
    const customer = (await search(address)).items.at(-1);
    assert.equal(customer?.detail, 'licenses, newsletter');
    assert.equal(customer?.path, `/customer?email=${encodeURIComponent(address)}`);
  });

  test('finds licenses by the beginning of a name', async () => {
    const name = `Zoë ${randomUUID()}`;
    const { license } = await service.issue({ customerName: name });
    for (const q of [name, name.toLowerCase(), name.slice(0, 12)]) {
      assert.deepEqual(await find(q), [`license ${license.id}`], q);
    }
  });

  test('lists eight addresses of many, and says that there are more', async () => {
    const mark = randomUUID().slice(0, 13);
    for (let number = 0; number < 9; number++) {
      await service.issue({ customerEmail: `${mark}-${number}@example.com` });
    }
    const { items, more } = await search(mark);
    assert.deepEqual(
      items.map(({ id }) => id),
      Array.from({ length: 8 }, (_, number) => `${mark}-${number}@example.com`),
    );
    assert.equal(more, true);
  });

  test('treats wildcards of SQL as text', async () => {
    await service.issue({ customerEmail: `percent-${randomUUID()}@example.com` });
    for (const q of ['percent-%', 'percent_', 'per*']) assert.deepEqual(await find(q), [], q);
  });
});

describe('200: payments', () => {
  test('finds a transaction, its event, its customer and its licenses', async () => {
    const [transactionId, customerId] = [paddleId('txn'), paddleId('ctm')];
    const email = `${randomUUID()}@example.com`;
    const event = paddleTransactionCompleted({
      transactionId,
      customerId,
      lines: [{ priceId: TEST_PRICES.personal, cycle: null }],
    });
    await deliverPaddle(service, event);
    await deliverPaddle(service, paddleCustomer('created', { customerId, email }));
    const { rows } = await service.pool.query<{ license_id: string }>(
      'select license_id from license_transactions where transaction_id = $1',
      [transactionId],
    );
    assert.deepEqual(await find(transactionId), [
      `license ${rows[0]?.license_id}`,
      `transaction ${transactionId}`,
    ]);
    assert.deepEqual(await find(event.event_id), [`payment_event ${event.event_id}`]);
    assert.deepEqual(await find(customerId), [`customer ${email}`]);
    const [hit] = (await search(event.event_id)).items;
    assert.deepEqual([hit?.detail, hit?.status], ['paddle transaction.completed', 'processed']);
  });

  test('finds an outgoing webhook by the id of its message', async () => {
    await addEndpoint(
      service.context,
      { url: 'https://example.com/hook', description: null, eventTypes: [] },
      { actor: 'test', reason: null },
    );
    await service.issue();
    const { rows } = await service.pool.query<{ id: string }>('select id from webhook_messages');
    const id = rows[0]?.id ?? '';
    assert.deepEqual(await find(id), [`webhook_message ${id}`]);
  });
});

describe('200: machines', () => {
  test('finds activations, machines and installs', async () => {
    const machineId = `4C4C4544-${randomUUID()}`;
    const installId = randomUUID();
    const { license, licenseKey } = await service.issue();
    const { activation_id: activationId } = await activate(service, licenseKey, {
      machine_id: machineId,
    });
    await service.pool.query('update activations set install_id = $1 where id = $2', [
      installId,
      activationId,
    ]);
    const [activation] = (await search(activationId)).items;
    assert.deepEqual(
      [activation?.kind, activation?.detail, activation?.path],
      ['activation', machineId, `/licenses/${license.id}`],
    );
    assert.deepEqual(await find(machineId), [`machine ${machineId}`]);
    assert.deepEqual(await find(machineId.slice(0, 20)), [`machine ${machineId}`]);
    assert.deepEqual(await find(installId), [`install ${installId}`]);
  });

  test('finds a machine that only sent heartbeats, by its whole id', async () => {
    const machineId = `usage-${randomUUID()}`;
    const body = { machine_id: machineId, machine_fingerprint: { machine_id: machineId } };
    assert.equal((await service.post('/api/v1/usage/heartbeat', body)).status, 200);
    assert.deepEqual(await find(machineId), [`machine ${machineId}`]);
    assert.deepEqual(await find(machineId.slice(0, -1)), []);
  });

  test('finds the machine of a trial', async () => {
    const machineId = `trial-${randomUUID()}`;
    await startTrial(service, { machine_id: machineId });
    assert.deepEqual(await find(machineId), [`machine ${machineId}`]);
  });

  test('finds an event by its id, until it is erased', async () => {
    const [eventId, installId] = [randomUUID(), randomUUID()];
    const event = { event_id: eventId, name: 'opened', occurred_at: TEST_START.toISOString() };
    const batch = { install_id: installId, session_id: randomUUID(), app_version: '1.0' };
    const answer = await service.post('/api/v1/events', { ...batch, events: [event] });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      (await search(eventId)).items.map(({ kind, title, path }) => [kind, title, path]),
      [['event', 'opened', `/events/stored/${eventId}`]],
    );
    await service.pool.query('delete from events');
    assert.deepEqual(await find(eventId), []);
  });
});

describe('200: nothing', () => {
  test('finds nothing by a short or an unknown text', async () => {
    for (const q of [
      '',
      ' ',
      'a',
      randomUUID(),
      `nobody-${randomUUID()}`,
      '😀😀',
      '‮abc',
      'x'.repeat(512),
    ]) {
      assert.deepEqual(await search(q), { items: [], more: false }, q);
    }
  });

  test('shows the same to every role', async () => {
    const { license, licenseKey } = await service.issue({ customerEmail: 'role@example.com' });
    const admin = await openBrowser(service, 'admin');
    for (const q of [licenseKey, license.id, 'role@example.com']) {
      assert.deepEqual(await search(q, admin), await search(q), q);
    }
  });
});

describe('refusals', () => {
  test('401 without a session', async () => {
    const { status, body } = await service.get('/api/v1/admin/search?q=ada');
    assert.deepEqual([status, body], [401, problem('not_signed_in')]);
  });

  test('422 for a missing, long or unknown parameter', async () => {
    for (const [query, expected] of [
      ['', ['query.q', 'missing']],
      [`?q=${'x'.repeat(513)}`, ['query.q', 'string_too_long']],
      ['?q=a%00b', ['query.q', 'value_error']],
      ['?q=ada&kind=license', ['query.kind', 'extra_forbidden']],
    ] as const) {
      const { status, body } = await viewer.get(`/api/v1/admin/search${query}`);
      assert.deepEqual([status, validationErrorsOf(body)], [422, [expected]], query);
    }
  });
});
