import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';

import { openClient } from '../../test/open-client.ts';
import {
  connectionRefused,
  json,
  page,
  problem,
  type SentRequest,
} from '../../test/scripted-service.ts';

const STORED = json({ accepted: 1, dropped: 0 });

async function openSharing() {
  const opened = await openClient({ osVersion: '15.1' });
  await opened.client.setSharing(true);
  return opened;
}

/** The ids of the events of a request. */
function idsOf({ body }: SentRequest): unknown[] {
  const { events } = body;
  return Array.isArray(events) ? events.map(({ event_id: id }) => id) : [];
}

test('sends events with the ids of installation and run, and empties the queue', async () => {
  const { client, service } = await openSharing();
  client.track('app_started', { plan: 'pro', count: 2 });
  client.track('  ');
  service.answer(() => STORED.clone());
  assert.deepEqual(await client.flush(), { ok: true, sent: 1, rejected: 0 });
  const [request] = service.requests;
  const { install_id: install, session_id: session, events, ...versions } = request?.body ?? {};
  assert.deepEqual(versions, { app_version: '2.4.0', os_version: '15.1' });
  assert.match(String(install), /^[\da-f-]{36}$/);
  assert.match(String(session), /^[\da-f-]{36}$/);
  assert.ok(Array.isArray(events));
  const [{ event_id: id, ...event }] = events;
  assert.match(id, /^[\da-f]{8}-[\da-f]{4}-7/);
  const at = '2027-01-15T08:00:00.000Z';
  assert.deepEqual(event, {
    name: 'app_started',
    occurred_at: at,
    props: { plan: 'pro', count: '2' },
  });
  assert.deepEqual(await client.flush(), { ok: true, sent: 0, rejected: 0 });
});

test('sends nothing before the user agreed, and then what waited', async () => {
  const { client, service } = await openClient();
  client.track('app_started');
  assert.deepEqual(await client.flush(), { ok: false, code: 'sharing_off' });
  assert.deepEqual(service.requests, []);
  await client.setSharing(true);
  service.answer(() => STORED.clone());
  assert.deepEqual(await client.flush(), { ok: true, sent: 1, rejected: 0 });
});

test('deletes everything when the user does not agree', async () => {
  const { client, service } = await openSharing();
  client.track('app_started');
  await client.setSharing(false);
  client.track('app_ended');
  await client.setSharing(true);
  assert.deepEqual(await client.flush(), { ok: true, sent: 0, rejected: 0 });
  assert.deepEqual(service.requests, []);
});

test('erases the id of the installation, and returns it for the vendor', async () => {
  const { client } = await openSharing();
  const first = await client.erase();
  assert.ok(first.ok);
  assert.match(String(first.installId), /^[\da-f-]{36}$/);
  assert.deepEqual(await client.erase(), { ok: true, installId: null });
  assert.deepEqual(await client.flush(), { ok: false, code: 'sharing_off' });
});

test('sends batches of 500 at most', async () => {
  const { client, service } = await openSharing();
  for (let count = 0; count < 1_001; count += 1) client.track('opened');
  service.answer(() => STORED.clone());
  assert.deepEqual(await client.flush(), { ok: true, sent: 1_001, rejected: 0 });
  assert.deepEqual(
    service.requests.map((each) => idsOf(each).length),
    [500, 500, 1],
  );
});

test('keeps events under the same ids without an answer', async () => {
  const { client, service } = await openSharing();
  client.track('opened');
  const silent = [
    () => connectionRefused(),
    () => page(),
    () => page(403),
    () => page(422),
    () => json({ detail: 'blocked by policy' }, 422),
    () => json({ detail: ['blocked by policy'] }, 422),
    () => problem(429, 'rate_limited'),
    () => problem(503, 'storage_low'),
    () => json({ ok: true }),
  ];
  for (const answer of silent) {
    service.answer(answer);
    assert.equal((await client.flush()).ok, false);
  }
  service.answer(() => STORED.clone());
  await client.flush();
  const ids = service.requests.map(idsOf);
  assert.equal(ids.length, 10);
  assert.deepEqual(new Set(ids.flat()).size, 1);
});

test('halves a batch that is too large, and drops one event that is', async () => {
  const { client, service, problems } = await openSharing();
  for (let count = 0; count < 10; count += 1) client.track(count === 3 ? 'huge' : 'opened');
  service.answer((request) => {
    const isHuge = JSON.stringify(request.body).includes('huge') || idsOf(request).length > 5;
    return isHuge ? new Response('<html>too large</html>', { status: 413 }) : STORED.clone();
  });
  assert.deepEqual(await client.flush(), { ok: true, sent: 9, rejected: 1 });
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['events_rejected'],
  );
});

test('drops a batch that the service rejects permanently, and reports it', async () => {
  const faults = {
    detail: [{ loc: ['body', 'events', 0], msg: 'Field required', type: 'missing' }],
  };
  for (const answer of [() => problem(400, 'bad_request'), () => json(faults, 422)]) {
    const { client, service, problems } = await openSharing();
    client.track('opened');
    service.answer(answer);
    assert.deepEqual(await client.flush(), { ok: true, sent: 0, rejected: 1 });
    assert.match(
      String(problems[0]?.message),
      /^the service rejected 1 events, the first one named opened$/,
    );
    assert.match(await client.explain(), /^events dropped: 1$/m);
  }
});

test('sends no event under an id that was erased while a batch was sent', async () => {
  const { client, service } = await openSharing();
  for (let count = 0; count < 501; count += 1) client.track('clicked');
  const order: string[] = [];
  let erased: Promise<unknown> = Promise.resolve();
  service.answer(async () => {
    erased = client.erase().then(() => order.push('erased'));
    await setImmediate();
    order.push('answered');
    return STORED.clone();
  });
  assert.deepEqual(await client.flush(), { ok: false, code: 'sharing_off' });
  await erased;
  assert.deepEqual(order, ['answered', 'erased']);
  assert.deepEqual(
    service.requests.map(({ body }) => Array.isArray(body['events']) && body['events'].length),
    [500],
  );
});
