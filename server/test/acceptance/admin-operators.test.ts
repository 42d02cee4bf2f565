import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { createKey } from '../api-key-steps.ts';
import { startTestService } from '../harness.ts';
import {
  createTestOperator,
  openBrowser,
  redeemAsBrowser,
  TEST_PASSWORD,
  type Browser,
} from '../operator-steps.ts';
import { SECOND_MS } from '../test-clock.ts';
import { problem, readBody, readItems } from './bodies.ts';

const OPERATORS = '/api/v1/admin/operators';
const SESSION = '/api/v1/admin/session';

const service = await startTestService();
const { clock, pool } = service;

async function show(admin: Browser, id: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await admin.get(`${OPERATORS}/${id}`);
  assert.equal(answer.status, 200, answer.text);
  return readBody(answer.body);
}

async function listItems(admin: Browser, query = ''): Promise<Readonly<Record<string, unknown>>[]> {
  const answer = await admin.get(`${OPERATORS}?${query}`);
  assert.equal(answer.status, 200, answer.text);
  return readItems(answer.body);
}

async function lastEntry(subjectId: string) {
  const { rows } = await pool.query(
    `select actor, action, reason, details from audit_log where subject_id = $1 order by sequence desc limit 1`,
    [subjectId],
  );
  return rows[0];
}

describe('200', () => {
  test('creates an operator, whose link is shown once', async () => {
    const admin = await openBrowser(service);
    const email = 'Ben@example.com';
    const body = { email, name: ' Ben ', role: 'support', reason: 'new colleague' };
    const created = await admin.post(OPERATORS, body);
    assert.equal(created.status, 200, created.text);
    const { operator_id: id, url, expires_at: expiresAt } = readBody(created.body);
    assert.match(String(url), /^https:\/\/license\.example\.com\/console\/welcome#[\w-]{43}$/);
    assert.equal(expiresAt, new Date(clock.now().getTime() + 1_800_000).toISOString());
    assert.deepEqual(await show(admin, String(id)), {
      id,
      email,
      name: 'Ben',
      role: 'support',
      state: 'invited',
      totp_enabled: false,
      created_at: clock.now().toISOString(),
      last_sign_in_at: null,
      disabled_at: null,
      version: 1,
    });
    assert.deepEqual(await lastEntry(String(id)), {
      actor: `operator:${admin.email}`,
      action: 'operator.create',
      reason: 'new colleague',
      details: { role: 'support' },
    });
    const token = new URL(String(url)).hash.slice(1);
    const redeemed = await service.post(`${SESSION}/redeem`, { token, password: TEST_PASSWORD });
    assert.equal(redeemed.status, 200, redeemed.text);
    assert.equal((await show(admin, String(id)))['state'], 'active');
  });

  test('lists by search, role and state, in any order, page by page, and as CSV', async () => {
    const admin = await openBrowser(service);
    const names = ['zoë-list@example.com', 'adam-list@example.com', 'mia-list@example.com'];
    for (const [index, email] of names.entries()) {
      const role = index === 2 ? 'support' : 'viewer';
      await admin.post(OPERATORS, { email, name: `=1+${index}`, role });
    }
    const emails = async (query: string) =>
      (await listItems(admin, `search=-LIST@&${query}`)).map(({ email }) => email);
    const [zoe, adam, mia] = names;
    assert.deepEqual(await emails(''), [adam, mia, zoe]);
    assert.deepEqual(await emails('sort=-name'), [mia, adam, zoe]);
    assert.deepEqual(await emails('role=support'), [mia]);
    assert.deepEqual(await emails('state=active'), []);
    assert.deepEqual(
      await emails('state=invited&sort=role'),
      [zoe, adam, mia].toSorted((a, b) => Number(a === mia) - Number(b === mia)),
    );
    const first = readBody((await admin.get(`${OPERATORS}?search=-list@&limit=2`)).body);
    const cursor = encodeURIComponent(String(first['next_cursor']));
    assert.deepEqual(await emails(`limit=2&cursor=${cursor}`), [zoe]);
    const csv = await admin.get(`${OPERATORS}/export?search=-list@&sort=-email`);
    assert.equal(csv.headers.get('content-type'), 'text/csv; charset=utf-8');
    const [head = '', line = '', ...more] = csv.text.trim().split('\r\n');
    assert.match(head, /^\S?id,email,name,role,state,totp_enabled,created_at/);
    assert.match(line, /,zoë-list@example\.com,"?'=1\+0"?,viewer,invited,/);
    assert.equal(more.length, 2);
    assert.equal((await lastEntry('operators')).action, 'operator.export');
  });

  test('changes the role, disables and enables, with the next version and an audit entry', async () => {
    const admin = await openBrowser(service);
    const ben = await openBrowser(service, 'viewer');
    const path = `${OPERATORS}/${ben.operatorId}`;
    const changed = await admin.post(`${path}/role`, { role: 'support', expected_version: 1 });
    assert.deepEqual(changed.body, await show(admin, ben.operatorId));
    const { role, version } = readBody(changed.body);
    assert.deepEqual([role, version], ['support', 2]);
    assert.equal(readBody((await ben.get(SESSION)).body)['role'], 'support');
    const reason = 'left';
    const disabled = await admin.post(`${path}/disable`, { reason, expected_version: 2 });
    assert.deepEqual(disabled.body, await show(admin, ben.operatorId));
    assert.equal(readBody(disabled.body)['state'], 'disabled');
    assert.equal((await ben.get(SESSION)).status, 401);
    assert.deepEqual(await lastEntry(ben.operatorId), {
      actor: `operator:${admin.email}`,
      action: 'operator.disable',
      reason: 'left',
      details: { ended_sessions: 1 },
    });
    const enabled = await admin.post(`${path}/enable`, { expected_version: 3 });
    assert.deepEqual(enabled.body, await show(admin, ben.operatorId));
    assert.equal(readBody(enabled.body)['state'], 'active');
  });

  test('resets an operator, which then has no credential but the new link', async () => {
    const admin = await openBrowser(service);
    const ben = await redeemAsBrowser(service, 'viewer');
    const { version } = await show(admin, ben.operatorId);
    const path = `${OPERATORS}/${ben.operatorId}/reset`;
    const answer = await admin.post(path, { expected_version: version });
    assert.equal(answer.status, 200, answer.text);
    assert.equal((await ben.get(SESSION)).status, 401);
    const signIn = { email: ben.email, password: TEST_PASSWORD };
    assert.equal((await service.post(SESSION, signIn)).status, 401);
    assert.equal((await show(admin, ben.operatorId))['state'], 'invited');
  });

  test('lists and ends the sessions of an operator', async () => {
    const admin = await openBrowser(service);
    const ben = await redeemAsBrowser(service, 'viewer');
    const path = `${OPERATORS}/${ben.operatorId}/sessions`;
    const [session] = readItems((await admin.get(path)).body);
    const [own] = readItems((await ben.get('/api/v1/admin/sessions')).body);
    const expected: unknown = { ...own, is_current: false };
    assert.deepEqual(session, expected);
    const exported = await admin.get(`${path}/export`);
    assert.match(exported.headers.get('content-disposition') ?? '', /sessions\.csv/u);
    const [head, row, ...rest] = exported.text.split('\r\n');
    assert.equal(head, 'id,user_agent,network,created_at,last_seen_at,expires_at');
    const { id, user_agent: agent, network, created_at: created, last_seen_at: seen } = own ?? {};
    assert.equal(row, [id, agent, network, created, seen, own?.['expires_at']].join(','));
    assert.deepEqual(rest, ['']);
    assert.deepEqual(await lastEntry(ben.operatorId), {
      actor: `operator:${admin.email}`,
      action: 'operator.export_sessions',
      reason: null,
      details: {},
    });
    const revoked = await admin.post(`${path}/${String(session?.['id'])}/revoke`);
    assert.equal(revoked.status, 200, revoked.text);
    assert.equal((await ben.get(SESSION)).status, 401);
    assert.deepEqual(await lastEntry(ben.operatorId), {
      actor: `operator:${admin.email}`,
      action: 'operator.end_session',
      reason: null,
      details: { session_id: session?.['id'] },
    });
    await service.post(SESSION, { email: ben.email, password: TEST_PASSWORD });
    assert.equal((await admin.post(`${path}/revoke`)).status, 200);
    assert.deepEqual(readItems((await admin.get(path)).body), []);
    const all = await admin.post(`${OPERATORS}/${admin.operatorId}/sessions/revoke`);
    assert.equal(all.status, 200);
    assert.equal((await admin.get(SESSION)).status, 200);
  });
});

describe('403', () => {
  test('only administrators with a fresh proof change operators', async () => {
    const support = await openBrowser(service, 'support');
    assert.equal((await support.get(OPERATORS)).status, 403);
    const admin = await openBrowser(service);
    clock.advance(600 * SECOND_MS);
    const answer = await admin.post(OPERATORS, { email: 'x@example.com', role: 'admin' });
    assert.deepEqual(answer.body, problem('fresh_proof_required'));
    assert.equal((await admin.get(`${OPERATORS}/export`)).status, 403);
    assert.equal((await admin.get(OPERATORS)).status, 200);
  });
});

const UNKNOWN = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

describe('404', () => {
  test('an unknown operator, and a session of another one', async () => {
    const admin = await openBrowser(service);
    const detail = 'There is no such operator.';
    const expected = problem('not_found', { detail });
    for (const answer of [
      await admin.get(`${OPERATORS}/${UNKNOWN}`),
      await admin.get(`${OPERATORS}/${UNKNOWN}/sessions`),
      await admin.post(`${OPERATORS}/${UNKNOWN}/enable`, { expected_version: 1 }),
    ]) {
      assert.deepEqual([answer.status, answer.body], [404, expected]);
    }
    const other = await openBrowser(service);
    const [session] = readItems((await other.get('/api/v1/admin/sessions')).body);
    const path = `${OPERATORS}/${admin.operatorId}/sessions/${String(session?.['id'])}/revoke`;
    assert.equal((await admin.post(path)).status, 404);
  });
});

describe('409', () => {
  test('a change that is based on an older version has the current state', async () => {
    const admin = await openBrowser(service);
    const { id } = await createTestOperator(service, 'viewer');
    const order = (role: string) =>
      admin.post(`${OPERATORS}/${id}/role`, { role, expected_version: 1 });
    const answers = await Promise.all([order('support'), order('admin')]);
    const won = answers.find(({ status }) => status === 200);
    const lost = answers.find(({ status }) => status === 409);
    const current = await show(admin, id);
    assert.deepEqual([won?.body, lost?.body], [current, problem('conflict', { current })]);
  });

  test('an address that another operator has, in upper or lower case', async () => {
    const admin = await openBrowser(service);
    const { email } = await createTestOperator(service);
    const answer = await admin.post(OPERATORS, { email: email.toUpperCase(), role: 'viewer' });
    const detail =
      'There is an operator with this address already. A reset creates a new link for it.';
    assert.deepEqual([answer.status, answer.body], [409, problem('not_possible', { detail })]);
  });

  test('an operator neither disables nor resets itself', async () => {
    const admin = await openBrowser(service);
    await openBrowser(service);
    for (const verb of ['disable', 'reset']) {
      const path = `${OPERATORS}/${admin.operatorId}/${verb}`;
      const answer = await admin.post(path, { reason: 'x', expected_version: 1 });
      assert.equal(readBody(answer.body)['code'], 'not_possible', verb);
    }
  });

  test('the reset of a disabled operator', async () => {
    const admin = await openBrowser(service);
    const { operatorId } = await openBrowser(service, 'viewer');
    const path = `${OPERATORS}/${operatorId}`;
    await admin.post(`${path}/disable`, { reason: 'x', expected_version: 1 });
    const answer = await admin.post(`${path}/reset`, { expected_version: 2 });
    const detail = 'The operator is disabled: enable it first.';
    assert.deepEqual(answer.body, problem('not_possible', { detail }));
  });

  test('the last administrator who can sign in keeps the role and the account', async () => {
    const own = await startTestService();
    const admins = [await openBrowser(own), await openBrowser(own)];
    await createTestOperator(own, 'admin');
    const { apiKey } = await createKey(own, { scopes: ['admin'] });
    const body = { reason: 'x', expected_version: 1 };
    const disable = ({ operatorId }: Browser) =>
      own.post(`${OPERATORS}/${operatorId}/disable`, body, { 'x-api-key': apiKey });
    const [one, two] = admins;
    assert.ok(one !== undefined && two !== undefined);
    // At the same time, by a key, which no disabled operator ends.
    const answers = await Promise.all([disable(one), disable(two)]);
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 409],
    );
    const last = answers[0]?.status === 200 ? two : one;
    const path = `${OPERATORS}/${last.operatorId}`;
    const demoted = await last.post(`${path}/role`, { role: 'viewer', expected_version: 1 });
    assert.equal(readBody(demoted.body)['code'], 'not_possible');
    assert.equal(readBody((await disable(last)).body)['code'], 'not_possible');
    assert.equal((await last.get(SESSION)).status, 200);
  });
});

describe('422', () => {
  test('a reason that is missing, an unknown role, an unknown sort and another member', async () => {
    const admin = await openBrowser(service);
    const path = `${OPERATORS}/${admin.operatorId}`;
    for (const [answer, loc] of [
      [admin.post(`${path}/disable`, { expected_version: 1 }), ['body', 'reason']],
      [admin.post(OPERATORS, { email: 'x@example.com', role: 'owner' }), ['body', 'role']],
      [admin.get(`${OPERATORS}?sort=password_hash`), ['query', 'sort']],
    ] as const) {
      const { status, body } = await answer;
      assert.equal(status, 422);
      const { detail } = readBody(body);
      assert.ok(Array.isArray(detail));
      assert.deepEqual(readBody(detail[0])['loc'], loc);
    }
  });
});
