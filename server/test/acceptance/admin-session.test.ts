import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { describe, test } from 'node:test';

import { disableOperator, resetOperator } from '#server/features/operators/manage.ts';
import { totpCode, totpStep } from '#server/features/operators/rules/totp.ts';

import { createKey } from '../api-key-steps.ts';
import { eventually } from '../eventually.ts';
import { startTestService } from '../harness.ts';
import { anyAddress, type Answer } from '../http-client.ts';
import {
  browse,
  cookieOf,
  createTestOperator,
  openBrowser,
  redeemAsBrowser,
  TEST_PASSWORD,
  type Browser,
} from '../operator-steps.ts';
import { DAY_MS, SECOND_MS } from '../test-clock.ts';
import { validationErrorsOf, problem, readBody } from './bodies.ts';

const SESSION = '/api/v1/admin/session';
const MINUTE_MS = 60 * SECOND_MS;
const change = { actor: 'test', reason: null };

const service = await startTestService();
const { clock, context } = service;

function signIn(email: string, more: object = {}, address = anyAddress()): Promise<Answer> {
  const body = { email, password: TEST_PASSWORD, ...more };
  return service.post(SESSION, body, { 'x-forwarded-for': address });
}

async function expectRefusal(
  answer: Promise<Answer>,
  ...[code, more]: Parameters<typeof problem>
): Promise<void> {
  const { status, body } = await answer;
  const expected = problem(code, more);
  assert.deepEqual([status, body], [expected['status'], expected]);
}

/** Enables one-time codes, and returns their secret and the recovery codes. */
async function enableTotp(browser: Browser): Promise<{ secret: string; codes: string[] }> {
  const begun = await browser.post(`${SESSION}/totp`);
  const secret = String(readBody(begun.body)['secret']);
  const enabled = await browser.post(`${SESSION}/totp/enable`, { code: codeOf(secret) });
  assert.equal(enabled.status, 200, enabled.text);
  const { codes } = readBody(enabled.body);
  assert.ok(Array.isArray(codes));
  return { secret, codes: codes.map(String) };
}

function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status).toSorted((a, b) => a - b);
}

function codeOf(secret: string): string {
  return totpCode(secret, totpStep(clock.now()));
}

describe('redeeming a link', () => {
  test('shows whose link it is, sets the password, and signs in', async () => {
    const { id, email, token } = await createTestOperator(service, 'support');
    const shown = await service.post(`${SESSION}/link`, { token });
    const expiresAt = new Date(clock.now().getTime() + 30 * MINUTE_MS).toISOString();
    assert.deepEqual(shown.body, {
      email,
      name: 'support',
      role: 'support',
      expires_at: expiresAt,
    });
    const redeemed = await service.post(`${SESSION}/redeem`, {
      token,
      name: 'Anna',
      password: TEST_PASSWORD,
    });
    const { session_id: sessionId, ...current } = readBody(redeemed.body);
    assert.equal(typeof sessionId, 'string');
    assert.deepEqual(current, {
      kind: 'session',
      id,
      name: 'Anna',
      email,
      role: 'support',
      fresh_until: new Date(clock.now().getTime() + 10 * MINUTE_MS).toISOString(),
      expires_at: new Date(clock.now().getTime() + 30 * DAY_MS).toISOString(),
      totp_enabled: false,
      recovery_codes_left: 0,
      has_password: true,
      passkeys: 0,
    });
    assert.match(
      redeemed.headers.getSetCookie()[0] ?? '',
      /^__Host-latchkey=[\w-]{43}; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const own = browse(service, { id, email }, cookieOf(redeemed));
    assert.deepEqual((await own.get(SESSION)).body, redeemed.body);
    assert.equal((await signIn(email)).status, 200);
  });

  test('rejects a link that was used, replaced, expired, or belongs to a disabled operator', async () => {
    const redeem = (token: string) =>
      service.post(`${SESSION}/redeem`, { token, password: TEST_PASSWORD });
    const used = await createTestOperator(service);
    const answers = await Promise.all([redeem(used.token), redeem(used.token)]);
    assert.deepEqual(statusesOf(answers), [200, 401]);
    const replaced = await createTestOperator(service);
    await resetOperator(context, replaced, change);
    const disabled = await createTestOperator(service);
    await disableOperator(context, disabled, change);
    const expired = await createTestOperator(service);
    clock.advance(30 * MINUTE_MS);
    for (const token of [used.token, replaced.token, disabled.token, expired.token, '', 'x']) {
      await expectRefusal(redeem(token), 'link_invalid');
      await expectRefusal(service.post(`${SESSION}/link`, { token }), 'link_invalid');
    }
  });

  test('rejects no password, and one of fewer than 12 or more than 200 characters', async () => {
    const { token } = await createTestOperator(service);
    for (const [password, type] of [
      [undefined, 'missing'],
      ['🔑'.repeat(11), 'value_error'],
      ['x'.repeat(201), 'string_too_long'],
    ] as const) {
      const answer = await service.post(`${SESSION}/redeem`, { token, password });
      assert.deepEqual(
        [answer.status, validationErrorsOf(answer.body)],
        [422, [['body.password', type]]],
      );
    }
    const answer = await service.post(`${SESSION}/redeem`, { token, password: '🔑'.repeat(200) });
    assert.equal(answer.status, 200);
  });
});

describe('signing in', () => {
  test('answers an unknown address, a disabled operator, an unset and a wrong password alike', async () => {
    const known = await redeemAsBrowser(service);
    const disabled = await redeemAsBrowser(service);
    await disableOperator(context, disabled, change);
    const invited = await createTestOperator(service);
    for (const [email, password] of [
      ['nobody@example.com', TEST_PASSWORD],
      [disabled.email, TEST_PASSWORD],
      [invited.email, TEST_PASSWORD],
      [known.email, `${TEST_PASSWORD}.`],
      [known.email, ''],
    ] as const) {
      await expectRefusal(signIn(email, { password }), 'sign_in_failed');
    }
    assert.equal((await signIn(known.email.toUpperCase())).status, 200);
    await expectRefusal(disabled.get(SESSION), 'not_signed_in');
  });

  test('limits guesses of an account, but not its operator in a known network', async () => {
    const { email } = await redeemAsBrowser(service);
    const home = anyAddress();
    assert.equal((await signIn(email, {}, home)).status, 200);
    const guess = () => signIn(email, { password: 'guessed' });
    for (let count = 0; count < 10; count += 1) assert.equal((await guess()).status, 401);
    const refused = await guess();
    assert.deepEqual([refused.status, refused.body], [429, problem('rate_limited')]);
    assert.equal(refused.headers.get('retry-after'), '30');
    assert.equal((await signIn(email)).status, 429);
    assert.equal((await signIn(email, {}, home)).status, 200);
    clock.advance(30 * SECOND_MS);
    assert.equal((await signIn(email)).status, 200);
  });

  test('limits guesses of a network', async () => {
    const address = anyAddress();
    for (let count = 0; count < 20; count += 1) {
      await expectRefusal(signIn(`no-${count}@example.com`, {}, address), 'sign_in_failed');
    }
    await expectRefusal(signIn('other@example.com', {}, address), 'rate_limited');
  });
});

test('a password hash with old parameters is replaced at the next sign-in', async () => {
  const { email } = await redeemAsBrowser(service);
  const salt = Buffer.from('a salt for tests');
  const parameters = { message: TEST_PASSWORD, nonce: salt, memory: 1024, passes: 1 };
  const tag = argon2Sync('argon2id', { ...parameters, parallelism: 1, tagLength: 16 });
  const [saltText, tagText] = [salt, tag].map((bytes) =>
    bytes.toString('base64').replaceAll('=', ''),
  );
  const old = `$argon2id$v=19$m=1024,t=1,p=1$${saltText}$${tagText}`;
  await service.pool.query('update operators set password_hash = $2 where email = $1', [
    email,
    old,
  ]);
  await expectRefusal(signIn(email, { password: 'another password' }), 'sign_in_failed');
  const read = async () => {
    const { rows } = await service.pool.query(
      'select password_hash as hash, version from operators where email = $1',
      [email],
    );
    return rows[0];
  };
  const before = await read();
  assert.equal(before.hash, old);
  assert.equal((await signIn(email)).status, 200);
  const after = await read();
  assert.match(after.hash, /^\$argon2id\$v=19\$m=256,t=1,p=1\$/);
  assert.equal(after.version, before.version);
  assert.equal((await signIn(email)).status, 200);
});

describe('one-time codes', () => {
  test('are needed from the first right code on, and each is accepted once', async () => {
    const browser = await redeemAsBrowser(service);
    const begun = readBody((await browser.post(`${SESSION}/totp`)).body);
    assert.match(String(begun['uri']), /^otpauth:\/\/totp\/Latchkey%20license\.example\.com:/);
    await expectRefusal(browser.post(`${SESSION}/totp/enable`, { code: '000' }), 'sign_in_failed');
    assert.equal((await signIn(browser.email)).status, 200);
    const { secret } = await enableTotp(browser);
    await expectRefusal(signIn(browser.email), 'code_required');
    // The code that enabled them is used up.
    await expectRefusal(signIn(browser.email, { code: codeOf(secret) }), 'sign_in_failed');
    clock.advance(30 * SECOND_MS);
    const code = codeOf(secret);
    const both = await Promise.all([1, 2].map(() => signIn(browser.email, { code })));
    assert.deepEqual(statusesOf(both), [200, 401]);
    const wrong = { code: codeOf(secret), password: 'another password' };
    clock.advance(30 * SECOND_MS);
    await expectRefusal(signIn(browser.email, wrong), 'sign_in_failed');
    await expectRefusal(browser.post(`${SESSION}/totp`), 'totp_state');
    const rows = await service.pool.query('select to_jsonb(operators)::text as row from operators');
    assert.equal(JSON.stringify(rows.rows).includes(secret), false);
  });

  test('can be replaced by each recovery code once', async () => {
    const browser = await redeemAsBrowser(service);
    const { codes } = await enableTotp(browser);
    const [first = '', second = ''] = codes;
    const answer = await signIn(browser.email, { code: first });
    assert.deepEqual([answer.status, readBody(answer.body)['recovery_codes_left']], [200, 9]);
    await expectRefusal(signIn(browser.email, { code: first }), 'sign_in_failed');
    const renewed = readBody((await browser.post(`${SESSION}/recovery-codes`)).body);
    assert.ok(Array.isArray(renewed['codes']));
    await expectRefusal(signIn(browser.email, { code: second }), 'sign_in_failed');
    assert.equal((await browser.post(`${SESSION}/totp/disable`)).status, 200);
    assert.equal((await signIn(browser.email)).status, 200);
    await expectRefusal(browser.post(`${SESSION}/recovery-codes`), 'totp_state');
  });

  test('end with a reset, which also removes the password', async () => {
    const browser = await redeemAsBrowser(service);
    await enableTotp(browser);
    const { url } = await resetOperator(context, browser, change);
    await expectRefusal(browser.get(SESSION), 'not_signed_in');
    await expectRefusal(signIn(browser.email), 'sign_in_failed');
    const token = new URL(url).hash.slice(1);
    await service.post(`${SESSION}/redeem`, { token, password: TEST_PASSWORD });
    assert.equal((await signIn(browser.email)).status, 200);
  });
});

describe('a session', () => {
  test('ends after 7 days without use, and after 30 days', async () => {
    const idle = await openBrowser(service);
    const busy = await openBrowser(service);
    for (let day = 1; day < 30; day += 1) {
      clock.advance(DAY_MS);
      assert.equal((await busy.get(SESSION)).status, 200, `day ${day}`);
      await eventually(() => service.pool.idleCount === service.pool.totalCount);
    }
    await expectRefusal(idle.get(SESSION), 'not_signed_in');
    clock.advance(DAY_MS);
    await expectRefusal(busy.get(SESSION), 'not_signed_in');
  });

  test('ends with the sign-out, for a copy of its cookie too', async () => {
    const browser = await openBrowser(service);
    const answer = await browser.post(`${SESSION}/sign-out`);
    assert.match(answer.headers.getSetCookie()[0] ?? '', /^__Host-latchkey=; Max-Age=0;/);
    await expectRefusal(browser.get(SESSION), 'not_signed_in');
    await expectRefusal(browser.post(`${SESSION}/sign-out`), 'not_signed_in');
  });

  test('is listed and revoked by its operator, and by no other', async () => {
    const browser = await redeemAsBrowser(service);
    const second = browse(
      service,
      { id: browser.operatorId, email: browser.email },
      cookieOf(await signIn(browser.email)),
    );
    const { items } = readBody((await browser.get('/api/v1/admin/sessions')).body);
    assert.ok(Array.isArray(items) && items.length === 2);
    const other = items.find((item) => readBody(item)['is_current'] === false);
    const path = `/api/v1/admin/sessions/${String(readBody(other)['id'])}/revoke`;
    const stranger = await openBrowser(service, 'admin');
    await expectRefusal(stranger.post(path), 'not_found');
    assert.equal((await browser.post(path)).status, 200);
    await expectRefusal(second.get(SESSION), 'not_signed_in');
    const third = browse(
      service,
      { id: browser.operatorId, email: browser.email },
      cookieOf(await signIn(browser.email)),
    );
    assert.equal((await third.post('/api/v1/admin/sessions/revoke-others')).status, 200);
    await expectRefusal(browser.get(SESSION), 'not_signed_in');
    assert.equal((await third.get(SESSION)).status, 200);
  });

  test('needs a new proof after 10 minutes, which replaces its cookie', async () => {
    const browser = await redeemAsBrowser(service);
    const password = { password: 'another password' };
    clock.advance(10 * MINUTE_MS);
    await expectRefusal(browser.post(`${SESSION}/password`, password), 'fresh_proof_required');
    await expectRefusal(browser.post(`${SESSION}/prove`, password), 'sign_in_failed');
    const proved = await browser.post(`${SESSION}/prove`, { password: TEST_PASSWORD });
    assert.equal(proved.status, 200, proved.text);
    await expectRefusal(browser.get(SESSION), 'not_signed_in');
    const renewed = browse(
      service,
      { id: browser.operatorId, email: browser.email },
      cookieOf(proved),
    );
    assert.equal((await renewed.post(`${SESSION}/password`, password)).status, 200);
    await expectRefusal(signIn(browser.email), 'sign_in_failed');
    assert.equal((await signIn(browser.email, password)).status, 200);
  });

  test('is not needed with an API key, which has no session to change', async () => {
    const { apiKey, key } = await createKey(service, { scopes: ['admin:support'] });
    const answer = await service.get(SESSION, { 'x-api-key': apiKey });
    assert.deepEqual(answer.body, {
      kind: 'api_key',
      id: key.id,
      name: key.name,
      email: null,
      role: 'support',
      fresh_until: null,
      session_id: null,
      expires_at: null,
      totp_enabled: false,
      recovery_codes_left: 0,
      has_password: false,
      passkeys: 0,
    });
    const detail = 'This needs the session of an operator; an API key has none.';
    const refused = service.post(`${SESSION}/sign-out`, {}, { 'x-api-key': apiKey });
    await expectRefusal(refused, 'forbidden', { detail });
    const other = await createKey(service, { scopes: ['outreach:send'] });
    assert.equal((await service.get(SESSION, { 'x-api-key': other.apiKey })).status, 403);
  });
});
