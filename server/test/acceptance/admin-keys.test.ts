import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { formatCsvLine } from '#server/lib/csv.ts';

import { createKey } from '../api-key-steps.ts';
import { startTestService } from '../harness.ts';
import { openBrowser } from '../operator-steps.ts';
import { DAY_MS } from '../test-clock.ts';
import { problem, readBody, readItems } from './bodies.ts';

const API_KEYS = '/api/v1/admin/api-keys';
const SIGNING_KEYS = '/api/v1/admin/signing-keys';

const service = await startTestService();
const { clock, context, pool } = service;
const admin = await openBrowser(service);

async function lastEntry(subjectId: string) {
  const { rows } = await pool.query(
    `select actor, action, reason from audit_log where subject_id = $1 order by sequence desc limit 1`,
    [subjectId],
  );
  return rows[0];
}

/** The actor, action and reason of a change of these tests. */
function entry(action: string, reason: string | null) {
  return { actor: `operator:${admin.email}`, action, reason };
}

async function createByAdmin(body: object) {
  const answer = await admin.post(API_KEYS, { scopes: ['outreach:send'], ...body });
  assert.equal(answer.status, 200, answer.text);
  const { api_key: apiKey, key } = readBody(answer.body);
  return { apiKey: String(apiKey), key: readBody(key) };
}

const useOf = (apiKey: string) => service.get('/metrics', { 'x-api-key': apiKey });

describe('API keys', () => {
  test('are created, and shown once', async () => {
    const expiresAt = new Date(clock.now().getTime() + DAY_MS).toISOString();
    const scopes = ['metrics:read', 'metrics:read'];
    const body = { name: 'prometheus', scopes, expires_at: expiresAt, reason: 'monitoring' };
    const { apiKey, key } = await createByAdmin(body);
    const id = String(key['id']);
    assert.deepEqual(key, {
      id,
      name: 'prometheus',
      key_hint: apiKey.slice(-4),
      scopes: ['metrics:read'],
      state: 'active',
      created_at: clock.now().toISOString(),
      expires_at: expiresAt,
      last_used_at: null,
      revoked_at: null,
      replaced_by: null,
    });
    assert.equal((await useOf(apiKey)).status, 200);
    assert.deepEqual(await lastEntry(id), entry('api_key.create', 'monitoring'));
    const listed = await admin.get(`${API_KEYS}?search=prometheus`);
    assert.equal(listed.text.includes(apiKey), false);
    assert.equal(readItems(listed.body)[0]?.['id'], id);
  });

  test('end at a time in each form of a date-time', async () => {
    const name = 'forms';
    const { key } = await createByAdmin({ name, expires_at: '2099-01-01_10:00:00,5+01:00' });
    assert.equal(key['expires_at'], '2099-01-01T09:00:00.500Z');
  });

  test('are rolled with an overlap, and revoked', async () => {
    const { apiKey, key } = await createByAdmin({ name: 'shop', scopes: ['metrics:read'] });
    const path = `${API_KEYS}/${String(key['id'])}`;
    const rolled = readBody((await admin.post(`${path}/roll`, { overlap_seconds: 3_600 })).body);
    const next = readBody(rolled['key']);
    assert.deepEqual([next['name'], next['state']], ['shop', 'active']);
    assert.equal((await useOf(apiKey)).status, 200);
    const byState = async (state: string) =>
      readItems((await admin.get(`${API_KEYS}?search=SHOP&state=${state}`)).body).map(
        ({ id, replaced_by: replacedBy }) => [id, replacedBy],
      );
    assert.deepEqual(await byState('rolled'), [[key['id'], next['id']]]);
    assert.deepEqual(await byState('active'), [[next['id'], null]]);
    const again = await admin.post(`${path}/roll`, { overlap_seconds: 3_600 });
    const detail = 'The API key was rolled already: roll its successor instead.';
    assert.deepEqual([again.status, again.body], [409, problem('not_possible', { detail })]);

    const revoke = `${API_KEYS}/${String(next['id'])}/revoke`;
    const revoked = await admin.post(revoke, { reason: 'leaked' });
    assert.equal(readBody(revoked.body)['state'], 'revoked');
    assert.equal((await useOf(String(rolled['api_key']))).status, 401);
    assert.deepEqual(await lastEntry(String(next['id'])), entry('api_key.revoke', 'leaked'));
    const gone = await admin.post(revoke, { reason: 'leaked' });
    const missing = 'There is no such API key, or it is revoked.';
    assert.deepEqual([gone.status, gone.body], [404, problem('not_found', { detail: missing })]);
  });

  test('are listed by scope and in any order, and exported without the keys', async () => {
    await createKey(service, { name: 'sorted-b', scopes: ['subscribers:write'] });
    await createKey(service, { name: 'sorted-A', scopes: ['subscribers:write'] });
    const names = async (query: string) =>
      readItems((await admin.get(`${API_KEYS}?scope=subscribers:write&${query}`)).body).map(
        ({ name }) => name,
      );
    assert.deepEqual(await names('sort=name'), ['sorted-A', 'sorted-b']);
    assert.deepEqual(await names('sort=-name'), ['sorted-b', 'sorted-A']);
    assert.deepEqual(await names('search=nothing'), []);
    const csv = await admin.get(`${API_KEYS}/export?scope=subscribers:write&sort=name`);
    const [head = '', line = ''] = csv.text.split('\r\n');
    assert.match(head, /id,name,key_hint,scopes,state,/);
    assert.match(line, /,sorted-A,\w{4},subscribers:write,active,/);
    assert.deepEqual(await lastEntry('API keys'), entry('api_key.export', null));
  });

  test('need a free name, a scope and a future end', async () => {
    await createByAdmin({ name: 'taken' });
    for (const body of [{ name: 'taken' }, { name: 'x', expires_at: clock.now().toISOString() }]) {
      const answer = await admin.post(API_KEYS, { scopes: ['admin'], ...body });
      assert.equal(readBody(answer.body)['code'], 'not_possible');
    }
    for (const body of [
      { name: '', scopes: ['admin'] },
      { name: 'y', scopes: [] },
      { name: 'y', scopes: ['everything'] },
      { name: 'x'.repeat(65), scopes: ['admin'] },
    ]) {
      assert.equal((await admin.post(API_KEYS, body)).status, 422, JSON.stringify(body));
    }
  });
});

async function states() {
  return readItems((await admin.get(SIGNING_KEYS)).body).map(({ state }) => state);
}

async function publishedKids() {
  await context.signingKeys.refresh();
  const { keys } = readBody((await service.get('/.well-known/jwks.json')).body);
  assert.ok(Array.isArray(keys));
  return keys.map((key) => readBody(key)['kid']);
}

describe('signing keys', () => {
  test('are rotated, and a retired one is revoked', async () => {
    const [first] = readItems((await admin.get(SIGNING_KEYS)).body);
    const kid = String(first?.['kid']);
    const revoke = (reason: string) => admin.post(`${SIGNING_KEYS}/${kid}/revoke`, { reason });
    const refused = await revoke('leaked');
    const detail = 'Only a retired key can be revoked: rotate the keys immediately first.';
    assert.deepEqual([refused.status, refused.body], [409, problem('not_possible', { detail })]);

    const announced = await admin.post(`${SIGNING_KEYS}/rotate`, { reason: 'yearly' });
    const second = String(readItems(announced.body)[1]?.['kid']);
    assert.deepEqual(await states(), ['signing', 'published']);
    assert.deepEqual(await lastEntry(second), entry('signing_key.rotate', 'yearly'));
    clock.advance(1_000);
    const order = { reason: 'leaked', immediately: true };
    assert.equal((await admin.post(`${SIGNING_KEYS}/rotate`, order)).status, 200);
    assert.deepEqual(await states(), ['retired', 'retired', 'signing']);
    assert.equal((await publishedKids()).includes(kid), true);

    assert.equal((await revoke('backup stolen')).status, 200);
    assert.deepEqual(await states(), ['revoked', 'retired', 'signing']);
    assert.deepEqual(await lastEntry(kid), entry('signing_key.revoke', 'backup stolen'));
    assert.equal((await publishedKids()).includes(kid), false);
    const { text } = await admin.get(`${SIGNING_KEYS}/export`);
    const [head, ...lines] = text.trim().split('\r\n');
    assert.equal(head, 'kid,state,active_from,retired_at,created_at');
    assert.deepEqual(
      lines.map((line) => line.split(',')[1]),
      ['revoked', 'retired', 'signing'],
    );
    // A kid may begin with a minus sign, which the export escapes.
    const start = formatCsvLine([kid, 'revoked', '']).trimEnd();
    assert.equal(lines[0]?.slice(0, start.length), start);
    assert.deepEqual(await lastEntry('signing keys'), entry('signing_key.export', null));
  });

  test('an unknown one cannot be revoked', async () => {
    const answer = await admin.post(`${SIGNING_KEYS}/unknown/revoke`, { reason: 'x' });
    const detail = 'There is no such signing key.';
    assert.deepEqual([answer.status, answer.body], [404, problem('not_found', { detail })]);
  });

  test('a rotation needs a reason', async () => {
    assert.equal((await admin.post(`${SIGNING_KEYS}/rotate`, {})).status, 422);
  });
});
