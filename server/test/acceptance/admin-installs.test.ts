import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { createPartition } from '#server/features/analytics/queries/partitions.ts';

import { buyLicense, listAudit, sendEvents } from '../customer-steps.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS } from '../test-clock.ts';
import { readAnswer, readList } from './bodies.ts';

const service = await startTestService();
const { pool } = service;
const viewer = await openBrowser(service, 'viewer');
const support = await openBrowser(service, 'support');
const admin = await openBrowser(service, 'admin');

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
    const { installId, licenseId, machineId } = await buyLicense(service);
    await sendEvents(service, installId, ['opened']);
    service.clock.advance(1_000);
    await sendEvents(service, installId, ['saved']);
    await sendEvents(service, randomUUID(), ['opened']);
    const install = readAnswer(await viewer.get(`/api/v1/admin/installs/${installId}`));
    assert.equal(install['usage_sharing'], true);
    assert.deepEqual(
      readList(install['activations']).map((row) => [row['license_id'], row['machine_id']]),
      [[licenseId, machineId]],
    );
    const page = readAnswer(await viewer.get(`/api/v1/admin/installs/${installId}/events`));
    const events = readList(page['items']);
    assert.deepEqual(
      events.map(({ name }) => name),
      ['saved', 'opened'],
    );
    assert.deepEqual(events[0]?.['props'], { plan: '<b>pro</b>' });
    const path = `/api/v1/admin/events/stored/${String(events[0]?.['event_id'])}`;
    assert.deepEqual(readAnswer(await viewer.get(path)), events[0]);
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
      const page = readAnswer(
        await viewer.get(`/api/v1/admin/installs/${installId}/events${query}`),
      );
      names.push(...readList(page['items']).map(({ name }) => name));
      const { next_cursor: next } = page;
      cursor = typeof next === 'string' ? next : null;
    }
    assert.deepEqual(
      names,
      Array.from({ length: 60 }, (_, number) => `event ${number}`),
    );
  });

  test('exports and erases the events, each with an audit entry', async () => {
    const { installId } = await buyLicense(service);
    await sendEvents(service, installId, ['opened', 'saved']);
    const path = `/api/v1/admin/installs/${installId}`;
    const [saved, opened] = readList(readAnswer(await viewer.get(`${path}/events`))['items']);
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
    const data = readAnswer(await support.post(`${path}/export`, { reason: 'asked' }));
    assert.equal(readList(data['events']).length, 2);
    const erased = readAnswer(await admin.post(`${path}/erase`, { reason: 'asked too' }));
    assert.deepEqual(erased, { erased_events: 2, archives: [] });
    assert.deepEqual(readAnswer(await viewer.get(`${path}/events`))['items'], []);
    assert.deepEqual(await listAudit(service, installId), [
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
    const { email, installId } = await buyLicense(service);
    const body = { reason: 'asked' };
    const install = readAnswer(await admin.post(`/api/v1/admin/installs/${installId}/erase`, body));
    const customer = readAnswer(
      await admin.post('/api/v1/admin/customer/erase', { ...body, email }),
    );
    const without = { ...body, email: 'nobody@example.com' };
    const unknown = readAnswer(await admin.post('/api/v1/admin/customer/erase', without));
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
    const { email, machineId, installId, licenseId } = await buyLicense(service);
    const path = `/api/v1/admin/machine?${new URLSearchParams({ id: machineId }).toString()}`;
    const machine = readAnswer(await viewer.get(path));
    assert.deepEqual(
      readList(machine['activations']).map((row) => [
        row['license_id'],
        row['install_id'],
        row['customer_email'],
        row['status'],
      ]),
      [[licenseId, installId, email, 'active']],
    );
    const day = service.clock.now().toISOString().slice(0, 10);
    assert.deepEqual(
      readList(machine['days']).map((row) => [row['day'], row['beats']]),
      [[day, 1]],
    );
    assert.equal(machine['first_day'], day);
    const body = { id: machineId, reason: 'asked' };
    const erased = readAnswer(await admin.post('/api/v1/admin/machine/erase', body));
    assert.deepEqual(erased, { erased_days: 1 });
    const after = readAnswer(await viewer.get(path));
    assert.deepEqual([after['days'], after['first_day']], [[], null]);
    assert.equal(readList(after['activations']).length, 1);
  });

  test('shows empty lists for an unknown machine', async () => {
    const found = readAnswer(await viewer.get('/api/v1/admin/machine?id=unknown'));
    assert.deepEqual(found, { id: 'unknown', activations: [], days: [], first_day: null });
  });
});
