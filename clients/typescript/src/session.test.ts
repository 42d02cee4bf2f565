/** A kept license that cannot be read for a while. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  activated,
  KEY,
  openActivated,
  openClient,
  trialStarted,
  validated,
} from '../test/open-client.ts';
import { connectionRefused, json } from '../test/scripted-service.ts';
import { MACHINE_ID } from '../test/signer.ts';
import { events, memoryEventStore } from './events.ts';
import { memoryStore, type Options } from './index.ts';

/** Returns a store with the license of an activated client, whose reading fails while `isUnreadable`. */
async function createUnreadable() {
  const kept = memoryStore();
  await (await openActivated({ store: kept })).client.close();
  const world = { isUnreadable: true };
  const store: NonNullable<Options['store']> = {
    ...kept,
    read() {
      if (world.isUnreadable) throw new Error('EACCES: permission denied');
      return kept.read();
    },
  };
  const read = async () => JSON.parse((await kept.read()) ?? '{}');
  return { kept, world, store, read };
}

test('never writes over a license that cannot be read', async () => {
  const { kept, store } = await createUnreadable();
  const before = await kept.read();
  const { client, problems } = await openClient({ store });
  await client.offlineRequest({ product: 'personal' });
  assert.deepEqual(await client.check(), { ok: false, code: 'folder_unreadable' });
  assert.deepEqual(await client.erase(), { ok: false, code: 'folder_unreadable' });
  assert.equal(client.state.reason, 'not_activated');
  assert.equal(await kept.read(), before);
  assert.deepEqual(
    [...new Set(problems.map(({ code }) => code))],
    ['folder_unreadable', 'folder_unwritable'],
  );
});

test('reads the license at the next call, and keeps what changed since', async () => {
  const { world, store, read } = await createUnreadable();
  const { client, service } = await openClient({ store });
  await client.offlineRequest({ product: 'personal' });
  world.isUnreadable = false;
  service.answer(() => validated());
  assert.deepEqual(await client.check(), { ok: true });
  assert.equal(client.state.kind, 'licensed');
  const { key, request } = await read();
  assert.equal(key, KEY);
  assert.notEqual(request, null);
});

test('reads the license before a write that comes later than the start of its call', async () => {
  const { world, store, read } = await createUnreadable();
  const { client, service } = await openClient({ store });
  service.answer(() => {
    world.isUnreadable = false;
    return activated({ tier: 'sellers' });
  });
  assert.deepEqual(await client.activate(KEY), { ok: true });
  assert.equal(client.state.tier, 'sellers');
  const { entitlement, machine } = await read();
  assert.match(Buffer.from(entitlement.split('.')[1], 'base64url').toString(), /"sellers"/);
  assert.deepEqual(machine, { machine_id: MACHINE_ID });
});

test('a trial that starts while the license cannot be read does not replace it', async () => {
  const { world, store, read } = await createUnreadable();
  const before = await read();
  const { client, service } = await openClient({ store });
  service.answer(() => trialStarted());
  assert.deepEqual(await client.startTrial(), { ok: true });
  assert.equal(client.state.kind, 'trial');
  world.isUnreadable = false;
  service.answer(() => connectionRefused());
  await client.check();
  assert.equal(client.state.kind, 'licensed');
  assert.deepEqual(await read(), before);
});

test('what was joined is written, also if the call changes nothing', async () => {
  const { world, store, read } = await createUnreadable();
  const { client, service } = await openClient({ store });
  service.answer(() => activated({ activation_id: 'another', tier: 'sellers' }));
  await client.activate(KEY);
  world.isUnreadable = false;
  service.answer(() => connectionRefused());
  await client.check();
  const { entitlement } = await read();
  assert.match(Buffer.from(entitlement.split('.')[1], 'base64url').toString(), /"sellers"/);
});

test('shares nothing before the consent that is kept could be read', async () => {
  const { kept, world, store, read } = await createUnreadable();
  await kept.write(JSON.stringify({ ...(await read()), sharing: false, install_id: 'i' }));
  const { client, service } = await openClient({ store });
  client.track('opened');
  await client.setSharing(true);
  assert.deepEqual(await client.flush(), { ok: false, code: 'sharing_off' });
  assert.equal(service.requests.length, 0);
  world.isUnreadable = false;
  service.answer(() => validated());
  await client.check();
  const { sharing, install_id: installId } = await read();
  assert.deepEqual([sharing, installId], [true, 'i']);
});

/** Opens a client that cannot read a consent, and tracks an event. */
async function trackUnread(sharing: boolean | null) {
  const { kept, world, store, read } = await createUnreadable();
  await kept.write(JSON.stringify({ ...(await read()), sharing, install_id: 'i' }));
  const waiting = memoryEventStore();
  const opened = await openClient({ store, events: events(waiting) });
  opened.client.track('opened');
  assert.match(waiting.read(), /"opened"/);
  return { ...opened, kept, world, waiting };
}

/** Sends the events that wait, with consent. @returns how many */
async function sendAll({ client, service }: Awaited<ReturnType<typeof trackUnread>>) {
  await client.setSharing(true);
  service.answer(() => json({ accepted: 1, dropped: 0 }));
  const result = await client.flush();
  return result.ok ? result.sent : result;
}

test('deletes what was tracked before a refusal could be read, and never sends it', async () => {
  const opened = await trackUnread(false);
  opened.world.isUnreadable = false;
  await opened.client.offlineRequest({ product: 'personal' });
  assert.equal(opened.waiting.read(), '');
  opened.client.track('ended');
  assert.equal(await sendAll(opened), 0);
});

test('deletes it also if the refusal is read in the middle of a call', async () => {
  const { client, service, world, waiting } = await trackUnread(false);
  service.answer(() => {
    world.isUnreadable = false;
    return activated();
  });
  await client.activate(KEY);
  assert.equal(waiting.read(), '');
});

test('the consent of a call that reads a refusal does not cover earlier events', async () => {
  const opened = await trackUnread(false);
  opened.world.isUnreadable = false;
  assert.equal(await sendAll(opened), 0);
});

test('the next start deletes it if the run ended before the refusal could be read', async () => {
  const { waiting, kept, reopen } = await trackUnread(false);
  await reopen({ store: kept, events: events(waiting) });
  assert.equal(waiting.read(), '');
});

test('keeps what was tracked before a consent could be read, or before anybody was asked', async () => {
  for (const sharing of [true, null]) {
    const opened = await trackUnread(sharing);
    opened.world.isUnreadable = false;
    await opened.client.offlineRequest({ product: 'personal' });
    assert.equal(await sendAll(opened), 1);
  }
});

test('keeps it if the user consented before the refusal could be read', async () => {
  const opened = await trackUnread(false);
  await opened.client.setSharing(true);
  opened.world.isUnreadable = false;
  assert.equal(await sendAll(opened), 1);
});

test('a machine whose identity could not be read either keeps that of the license', async () => {
  const { world, store, read } = await createUnreadable();
  const { client } = await openClient({ store, machine: () => null });
  world.isUnreadable = false;
  await client.check();
  assert.equal(client.state.kind, 'licensed');
  await client.offlineRequest({ product: 'personal' });
  assert.deepEqual((await read()).machine, { machine_id: MACHINE_ID });
});

test('another machine does not run with the license', async () => {
  const { world, store } = await createUnreadable();
  const { client } = await openClient({ store, machine: { machine_id: 'another machine' } });
  world.isUnreadable = false;
  await client.check();
  assert.equal(client.state.reason, 'entitlement_invalid');
});

test('renames a license that turns out to be damaged before it writes', async () => {
  const { kept, world, store } = await createUnreadable();
  await kept.write('{"version":1,"key":"LK');
  const { client, problems } = await openClient({ store });
  world.isUnreadable = false;
  await client.offlineRequest({ product: 'personal' });
  assert.ok(problems.some(({ code }) => code === 'file_damaged'));
  assert.match(String(await kept.read()), /"nonce"/);
});
