import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { openActivated, openClient, validated } from '../../test/open-client.ts';
import { connectionRefused, json } from '../../test/scripted-service.ts';
import { createSigner, DAY_MS, MACHINE_ID, NOW_MS, signToken } from '../../test/signer.ts';
import type { Latchkey } from '../index.ts';

async function request(
  client: Latchkey,
): Promise<{ readonly text: string; readonly nonce: string }> {
  const result = await client.offlineRequest({ product: 'personal', name: 'Lab PC 3' });
  assert.ok(result.ok);
  const [, payload = ''] = result.request.split('.');
  return {
    text: result.request,
    nonce: JSON.parse(Buffer.from(payload, 'base64url').toString()).nonce,
  };
}

test('creates a request as the page for buyers reads it', async () => {
  const { client, service } = await openClient();
  const { text, nonce } = await request(client);
  const [mark, payload = '', check] = text.split('.');
  assert.equal(mark, 'LKR1');
  assert.deepEqual(JSON.parse(Buffer.from(payload, 'base64url').toString()), {
    product: 'personal',
    machine_fingerprint: { machine_id: MACHINE_ID, app_version: '2.4.0' },
    nonce,
    name: 'Lab PC 3',
  });
  assert.match(nonce, /^[\w-]{22}$/);
  const digest = createHash('sha256').update(`LKR1.${payload}`).digest('base64url');
  assert.equal(check, digest.slice(0, 10));
  assert.deepEqual(service.requests, []);
});

test('accepts the answer in a mail, and runs without a key', async () => {
  const { client, reopen } = await openClient();
  const { nonce } = await request(client);
  const token = signToken({ nonce, exp: NOW_MS / 1000 + 90 * 86_400 });
  const mail = `Hello,\r\n> your answer:\r\n> ${token.slice(0, 50)}\r\n> ${token.slice(50)}\r\n\r\nRegards`;
  const again = await reopen();
  assert.deepEqual(await again.acceptOffline(mail), { ok: true });
  assert.deepEqual([again.state.kind, again.state.daysLeft], ['licensed', 90]);
  assert.deepEqual(await again.check(), { ok: false, code: 'not_activated' });
  assert.equal(again.state.mayRun, true);
});

test('refuses an answer by its first problem, and changes nothing', async () => {
  const { client, clock } = await openClient();
  const { nonce } = await request(client);
  const again = await request(client);
  assert.equal(again.nonce, nonce, 'the first request stays valid');
  const codes = async (token: string): Promise<unknown> => {
    const result = await client.acceptOffline(token);
    return result.ok ? null : result.code;
  };
  assert.equal(await codes('no answer'), 'entitlement_malformed');
  assert.equal(await codes(signToken({ nonce }).slice(0, -1)), 'entitlement_malformed');
  assert.equal(
    await codes(signToken({ nonce }, { signer: createSigner() })),
    'entitlement_unknown_key',
  );
  assert.equal(await codes(signToken({ nonce, aud: 'server' })), 'entitlement_audience');
  assert.equal(await codes(signToken({ nonce, machine: 'x' })), 'entitlement_machine');
  assert.equal(await codes(signToken({ nonce: 'another' })), 'entitlement_nonce');
  assert.equal(await codes(signToken()), 'entitlement_nonce');
  clock.ms += 15 * DAY_MS;
  assert.equal(await codes(signToken({ nonce })), 'entitlement_late');
  assert.equal(client.state.reason, 'not_activated');
});

test('an accepted answer ends the deactivation of its own activation', async () => {
  const { client, service } = await openActivated();
  service.answer(connectionRefused);
  await client.deactivate();
  const { nonce } = await request(client);
  assert.deepEqual(await client.acceptOffline(signToken({ nonce })), { ok: true });
  service.requests.length = 0;
  service.answer(() => validated());
  assert.deepEqual(await client.check(), { ok: true });
  assert.deepEqual(
    service.requests.map(({ path }) => path),
    ['/api/v1/licenses/validate'],
  );
});

test('an accepted answer keeps the deactivation of another activation', async () => {
  const { client, service } = await openActivated();
  service.answer(connectionRefused);
  await client.deactivate();
  const { nonce } = await request(client);
  const answer = signToken({ nonce, activation_id: 'another' });
  assert.deepEqual(await client.acceptOffline(answer), { ok: true });
  service.answer(() => json({ success: true }));
  service.requests.length = 0;
  assert.deepEqual(await client.check(), { ok: false, code: 'not_activated' });
  assert.deepEqual(
    service.requests.map(({ path }) => path),
    ['/api/v1/licenses/deactivate'],
  );
  assert.equal(client.state.mayRun, true);
});

test('accepts an answer once, and none without a request', async () => {
  const { client } = await openActivated();
  const { nonce } = await request(client);
  assert.deepEqual(await client.acceptOffline(signToken({ nonce })), { ok: true });
  assert.deepEqual(await client.acceptOffline(signToken({ nonce })), {
    ok: false,
    code: 'entitlement_nonce',
  });
});
