import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { toAddress } from '#server/features/customers/find-person.ts';
import { createPartition } from '#server/features/analytics/queries/partitions.ts';
import { toMachineKey } from '#server/features/usage/machine-key.ts';

import { startTestService } from '../harness.ts';
import type { Answer } from '../http-client.ts';
import { activate } from '../license-steps.ts';
import { openBrowser } from '../operator-steps.ts';
import {
  paddleCustomer,
  paddleId,
  paddleTransactionCompleted,
} from '../payment-providers/paddle-events.ts';
import { deliverPaddle } from '../payment-providers/paddle-steps.ts';
import { TEST_PRICES } from '../test-catalog.ts';
import { DAY_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const CUSTOMER = '/api/v1/admin/customer';

const service = await startTestService();
const { context, pool } = service;
const viewer = await openBrowser(service, 'viewer');
const support = await openBrowser(service, 'support');
const admin = await openBrowser(service, 'admin');

interface Bought {
  readonly email: string;
  readonly transactionId: string;
  readonly licenseId: string;
  readonly machineId: string;
  readonly installId: string;
}

/** A customer with a purchase, a machine with an install and a heartbeat, and the newsletter. */
async function buy(): Promise<Bought> {
  const [transactionId, customerId] = [paddleId('txn'), paddleId('ctm')];
  const email = `Ada.${randomUUID()}@example.com`;
  const lines = [{ priceId: TEST_PRICES.personal, cycle: null }];
  await deliverPaddle(service, paddleCustomer('created', { customerId, email }));
  await deliverPaddle(service, paddleTransactionCompleted({ transactionId, customerId, lines }));
  const [machineId, installId] = [`machine-${randomUUID()}`, randomUUID()];
  const { body } = await service.get(`/api/v1/licenses/check/${transactionId}`);
  const checked = readBody(body);
  const { activation_id: activationId } = await activate(service, String(checked['license_key']), {
    machine_id: machineId,
  });
  const { rows } = await pool.query<{ license_id: string }>(
    'update activations set install_id = $1 where id = $2 returning license_id',
    [installId, activationId],
  );
  const heartbeat = { machine_id: machineId, machine_fingerprint: { machine_id: machineId } };
  await service.post('/api/v1/usage/heartbeat', heartbeat);
  await service.post('/api/v1/subscribers', { email });
  return { email, transactionId, licenseId: rows[0]?.license_id ?? '', machineId, installId };
}

/** Makes exports wait, without the limit of the service for locks. */
async function holdExports(): Promise<AsyncDisposable> {
  await pool.query(`
    create or replace function hold_export() returns trigger language plpgsql set lock_timeout = 0 as
      $$ begin perform pg_advisory_xact_lock_shared(4711); return new; end $$;
    create or replace trigger hold_export before insert on audit_log
      for each row when (new.action = 'customer.export') execute function hold_export()`);
  const lock = await pool.connect();
  await lock.query('begin; select pg_advisory_xact_lock(4711)');
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= lock.query('rollback').then(() => lock.release());
    return released;
  };
  return { [Symbol.asyncDispose]: release };
}

async function sendEvents(installId: string, names: readonly string[]): Promise<void> {
  const events = names.map((name) => ({
    event_id: randomUUID(),
    name,
    occurred_at: service.clock.now().toISOString(),
    props: { plan: '<b>pro</b>' },
  }));
  const batch = { install_id: installId, session_id: randomUUID(), app_version: '1.0', events };
  const answer = await service.post('/api/v1/events', batch);
  assert.equal(answer.status, 200, answer.text);
}

function read({ body, status, text }: Answer): Readonly<Record<string, unknown>> {
  assert.equal(status, 200, text);
  return readBody(body);
}

function listOf(value: unknown): Readonly<Record<string, unknown>>[] {
  assert.ok(Array.isArray(value));
  return value;
}

async function show(email: string) {
  return read(await viewer.get(`${CUSTOMER}?${new URLSearchParams({ email }).toString()}`));
}

async function auditOf(subjectId: string): Promise<unknown[]> {
  const { rows } = await pool.query(
    'select actor, action, reason from audit_log where subject_id = $1 order by sequence',
    [subjectId],
  );
  return rows;
}

describe('GET /api/v1/admin/customer', () => {
  test('shows licenses, payments, machines and newsletter of an address in any case', async () => {
    const { email, licenseId, machineId, installId, transactionId } = await buy();
    await pool.query(
      `insert into key_emails (transaction_id, provider, state, created_at, sent_at) values ($1, 'paddle', 'sent', $2, $2)
       on conflict (transaction_id, provider) do nothing`,
      [transactionId, TEST_START],
    );
    const found = await show(email.toUpperCase());
    assert.deepEqual(
      listOf(found['licenses']).map(({ id, status }) => [id, status]),
      [[licenseId, 'active']],
    );
    assert.deepEqual(
      listOf(found['payments']).map((row) => [
        row['transaction_id'],
        row['origin'],
        row['currency'],
      ]),
      [[transactionId, 'purchase', 'USD']],
    );
    assert.deepEqual(
      listOf(found['machines']).map((row) => [
        row['machine_id'],
        row['install_id'],
        row['is_active'],
      ]),
      [[machineId, installId, true]],
    );
    assert.deepEqual(
      listOf(found['mails']).map(({ id, kind }) => [id, kind]),
      [[transactionId, 'keys']],
    );
    assert.equal(listOf(found['accounts']).length, 1);
    assert.equal(readBody(found['newsletter'])['confirmed_at'], TEST_START.toISOString());
    assert.deepEqual([found['suppressed'], found['changes']], [null, []]);
    assert.doesNotMatch(JSON.stringify(found), /license_key|components|digest/u);
  });

  test('shows empty lists for an unknown address', async () => {
    const found = await show(`nobody-${randomUUID()}@example.com`);
    for (const name of ['licenses', 'payments', 'machines', 'mails', 'subscriptions', 'accounts']) {
      assert.deepEqual(found[name], [], name);
    }
    assert.equal(found['newsletter'], null);
  });

  test('422 for a text that is no address', async () => {
    const answer = await viewer.get(`${CUSTOMER}?email=ada`);
    assert.deepEqual(
      [answer.status, validationErrorsOf(answer.body)[0]?.[0]],
      [422, 'query.email'],
    );
  });
});

describe('POST /api/v1/admin/customer/export', () => {
  test('sends all data as a file after an audit entry', async () => {
    const { email, installId } = await buy();
    await sendEvents(installId, ['opened']);
    const reason = 'request of 3 May';
    const answer = await support.post(`${CUSTOMER}/export`, { email, reason });
    const data = read(answer);
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="customer.json"');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(data['address'], email);
    assert.equal(listOf(data['licenses']).length, 1);
    assert.equal(listOf(listOf(data['installs'])[0]?.['events']).length, 1);
    const { id } = toAddress(context.vault, email);
    const actor = `operator:${support.email}`;
    assert.deepEqual(await auditOf(id), [{ actor, action: 'customer.export', reason }]);
    assert.deepEqual(
      listOf((await show(email))['changes']).map(({ action }) => action),
      ['customer.export'],
    );
  });

  test('reads for one export at a time; 503 while four wait', async () => {
    const { email } = await buy();
    await using held = await holdExports();
    const calls = Array.from({ length: 6 }, () =>
      support.post(`${CUSTOMER}/export`, { email, reason: 'many' }),
    );
    const refused = await Promise.race(calls);
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [503, '30']);
    await held[Symbol.asyncDispose]();
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    assert.equal(statuses.filter((status) => status === 200).length, 5, String(statuses));
    const { id } = toAddress(context.vault, email);
    assert.equal((await auditOf(id)).length, 5, 'none for the refused one');
  });

  test('403 for a viewer, 422 without a reason', async () => {
    const refused = await viewer.post(`${CUSTOMER}/export`, {
      email: 'a@example.com',
      reason: 'x',
    });
    assert.deepEqual(
      [refused.status, refused.body],
      [403, problem('forbidden', { detail: 'This needs the role support.' })],
    );
    const invalid = await support.post(`${CUSTOMER}/export`, { email: 'a@example.com' });
    assert.deepEqual(validationErrorsOf(invalid.body), [['body.reason', 'missing']]);
  });
});

describe('POST /api/v1/admin/customer/erase', () => {
  test('plans, then erases the customer and keeps the license', async () => {
    const { email, licenseId, machineId } = await buy();
    const plan = read(await admin.post(`${CUSTOMER}/plan-erasure`, { email }));
    const licenses = listOf(plan['tables']).find(({ table }) => table === 'licenses');
    assert.deepEqual(licenses, {
      table: 'licenses',
      rows: 1,
      outcome: 'address, name and note deleted; still valid',
    });
    assert.equal(listOf((await show(email))['licenses']).length, 1);

    const reason = 'request of 4 May';
    const erased = read(await admin.post(`${CUSTOMER}/erase`, { email, reason }));
    assert.deepEqual([erased['licenses'], erased['kept_bodies']], [1, 0]);
    const found = await show(email);
    assert.deepEqual([found['licenses'], found['accounts'], found['newsletter']], [[], [], null]);
    assert.equal(readBody(found['suppressed'])['reason'], 'erased');
    const { id } = toAddress(context.vault, email);
    const actor = `operator:${admin.email}`;
    assert.deepEqual(await auditOf(id), [{ actor, action: 'customer.erase', reason }]);
    const { rows } = await pool.query(
      'select customer_email, revoked_at from licenses where id = $1',
      [licenseId],
    );
    assert.deepEqual(rows, [{ customer_email: null, revoked_at: null }]);
    const usage = await pool.query('select from usage_days where machine_key = $1', [
      toMachineKey(context.vault, machineId),
    ]);
    assert.equal(usage.rowCount, 0);
  });

  test('revokes the licenses on demand', async () => {
    const { email, licenseId } = await buy();
    const body = { email, reason: 'request of 5 May', revoke: true };
    read(await admin.post(`${CUSTOMER}/erase`, body));
    const { rows } = await pool.query('select revoked_at from licenses where id = $1', [licenseId]);
    assert.deepEqual(rows, [{ revoked_at: TEST_START }]);
  });

  test('403 for support', async () => {
    const body = { email: 'a@example.com', reason: 'x' };
    const { status } = await support.post(`${CUSTOMER}/erase`, body);
    assert.equal(status, 403);
  });
});

const EVENT_FIELDS = [
  'event_id',
  'received_at',
  'occurred_at',
  'client_occurred_at',
  'session_id',
  'name',
  'app_version',
  'os_version',
];

describe('installs', () => {
  test('shows an install with its activations and events, newest first', async () => {
    const { installId, licenseId, machineId } = await buy();
    await sendEvents(installId, ['opened']);
    service.clock.advance(1_000);
    await sendEvents(installId, ['saved']);
    await sendEvents(randomUUID(), ['opened']);
    const install = read(await viewer.get(`/api/v1/admin/installs/${installId}`));
    assert.equal(install['usage_sharing'], true);
    assert.deepEqual(
      listOf(install['activations']).map((row) => [row['license_id'], row['machine_id']]),
      [[licenseId, machineId]],
    );
    const page = read(await viewer.get(`/api/v1/admin/installs/${installId}/events`));
    const events = listOf(page['items']);
    assert.deepEqual(
      events.map(({ name }) => name),
      ['saved', 'opened'],
    );
    assert.deepEqual(events[0]?.['props'], { plan: '<b>pro</b>' });
    const path = `/api/v1/admin/events/stored/${String(events[0]?.['event_id'])}`;
    assert.deepEqual(read(await viewer.get(path)), events[0]);
    assert.equal(page['next_cursor'], null);
  });

  test('pages through the events of many days', async () => {
    const installId = randomUUID();
    const start = service.clock.now();
    for (let ago = 9; ago >= 0; ago--) {
      service.clock.set(new Date(start.getTime() - ago * DAY_MS));
      if (ago > 0) await createPartition(pool, service.clock.now().toISOString().slice(0, 10));
    }
    await pool.query(
      `insert into events (event_id, received_at, install_id, session_id, name, occurred_at, app_version)
       select gen_random_uuid(), $1::timestamptz - number / 6 * interval '1 day' - number * interval '1 second', $2, gen_random_uuid(),
              'event ' || number, now(), '1.0'
       from generate_series(0, 59) as number`,
      [start, installId],
    );
    const names: unknown[] = [];
    for (let cursor: string | null = '', pages = 0; cursor !== null; pages++) {
      assert.ok(pages < 10);
      const query = cursor === '' ? '' : `?cursor=${encodeURIComponent(cursor)}`;
      const page = read(await viewer.get(`/api/v1/admin/installs/${installId}/events${query}`));
      names.push(...listOf(page['items']).map(({ name }) => name));
      const { next_cursor: next } = page;
      cursor = typeof next === 'string' ? next : null;
    }
    assert.deepEqual(
      names,
      Array.from({ length: 60 }, (_, number) => `event ${number}`),
    );
  });

  test('exports and erases the events, each with an audit entry', async () => {
    const { installId } = await buy();
    await sendEvents(installId, ['opened', 'saved']);
    const path = `/api/v1/admin/installs/${installId}`;
    const [saved, opened] = listOf(read(await viewer.get(`${path}/events`))['items']);
    // No field needs quotes, and null is an empty cell.
    const lines = [opened, saved]
      .map((event) => JSON.stringify(EVENT_FIELDS.map((name) => event?.[name])))
      .map((line) => line.slice(1, -1).replaceAll(/"|null/g, ''))
      .toSorted();
    const csv = await support.get(`${path}/events/export`);
    assert.match(csv.headers.get('content-disposition') ?? '', /install-events\.csv/u);
    assert.deepEqual(csv.text.split('\r\n'), [
      `${EVENT_FIELDS.join(',')},props`,
      ...lines.map((line) => `${line},"{""plan"":""<b>pro</b>""}"`),
      '',
    ]);
    const data = read(await support.post(`${path}/export`, { reason: 'asked' }));
    assert.equal(listOf(data['events']).length, 2);
    const erased = read(await admin.post(`${path}/erase`, { reason: 'asked too' }));
    assert.deepEqual(erased, { erased_events: 2, archives: [] });
    assert.deepEqual(read(await viewer.get(`${path}/events`))['items'], []);
    assert.deepEqual(await auditOf(installId), [
      { actor: `operator:${support.email}`, action: 'install.export_events', reason: null },
      { actor: `operator:${support.email}`, action: 'install.export', reason: 'asked' },
      { actor: `operator:${admin.email}`, action: 'install.erase', reason: 'asked too' },
    ]);
  });

  test('an erasure names the archives that may contain more events', async () => {
    await pool.query(
      `insert into event_archives (day, location, events, checksum, archived_at)
       select day, '/archive', 1, '1', now() from unnest('{2026-01-01, 2026-01-03}'::date[]) as day`,
    );
    const { email, installId } = await buy();
    const body = { reason: 'asked' };
    const install = read(await admin.post(`/api/v1/admin/installs/${installId}/erase`, body));
    const customer = read(await admin.post(`${CUSTOMER}/erase`, { ...body, email }));
    const without = { ...body, email: 'nobody@example.com' };
    const unknown = read(await admin.post(`${CUSTOMER}/erase`, without));
    await pool.query('delete from event_archives');
    const archives = [
      { location: '/archive', days: 2, first_day: '2026-01-01', last_day: '2026-01-03' },
    ];
    assert.deepEqual(
      [install['archives'], customer['archives'], unknown['archives']],
      [archives, archives, []],
    );
  });

  test('422 for an id or a cursor that is not one', async () => {
    const path = `/api/v1/admin/installs/${randomUUID()}/events`;
    for (const wrong of ['/api/v1/admin/installs/x', `${path}?cursor=x`, `${path}?cursor=2027 x`]) {
      assert.equal((await viewer.get(encodeURI(wrong))).status, 422, wrong);
    }
  });
});

describe('machines', () => {
  test('shows a machine with its licenses and days, and erases the days', async () => {
    const { email, machineId, installId, licenseId } = await buy();
    const path = `/api/v1/admin/machine?${new URLSearchParams({ id: machineId }).toString()}`;
    const machine = read(await viewer.get(path));
    assert.deepEqual(
      listOf(machine['activations']).map((row) => [
        row['license_id'],
        row['install_id'],
        row['customer_email'],
        row['status'],
      ]),
      [[licenseId, installId, email, 'active']],
    );
    const day = service.clock.now().toISOString().slice(0, 10);
    assert.deepEqual(
      listOf(machine['days']).map((row) => [row['day'], row['beats']]),
      [[day, 1]],
    );
    assert.equal(machine['first_day'], day);
    const body = { id: machineId, reason: 'asked' };
    const erased = read(await admin.post('/api/v1/admin/machine/erase', body));
    assert.deepEqual(erased, { erased_days: 1 });
    const after = read(await viewer.get(path));
    assert.deepEqual([after['days'], after['first_day']], [[], null]);
    assert.equal(listOf(after['activations']).length, 1);
  });

  test('shows empty lists for an unknown machine', async () => {
    const found = read(await viewer.get('/api/v1/admin/machine?id=unknown'));
    assert.deepEqual(found, { id: 'unknown', activations: [], days: [], first_day: null });
  });
});
