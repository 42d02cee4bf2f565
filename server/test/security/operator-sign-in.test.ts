import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rotateMasterSecret } from '#server/features/master-secret/rotate-master-secret.ts';
import { totpCode, totpStep } from '#server/features/operators/rules/totp.ts';

import { readBody } from '../acceptance/bodies.ts';
import { startTestService, TEST_MASTER_SECRET } from '../harness.ts';
import { cookieOf, createTestOperator, redeemAsBrowser, TEST_PASSWORD } from '../operator-steps.ts';
import { DAY_MS } from '../test-clock.ts';

const SESSION = '/api/v1/admin/session';
const NEW_SECRET = 'another master secret, for after a leak';

const service = await startTestService();

test('a cookie from before the sign-in is never the session after it', async () => {
  const { token } = await createTestOperator(service);
  const planted = `__Host-latchkey=${'A'.repeat(43)}`;
  const body = { token, password: TEST_PASSWORD };
  const answer = await service.post(`${SESSION}/redeem`, body, { cookie: planted });
  assert.equal(answer.status, 200, answer.text);
  assert.notEqual(cookieOf(answer), planted);
  assert.equal((await service.get(SESSION, { cookie: planted })).status, 401);
});

test('the cookie of plain HTTP is not taken where the public URL is https', async () => {
  const { cookie } = await redeemAsBrowser(service);
  const renamed = cookie.replace('__Host-', '');
  assert.equal((await service.get(SESSION, { cookie: renamed })).status, 401);
});

test('over plain HTTP, operators sign in on loopback addresses only', async () => {
  const plain = await startTestService({
    settings: { LATCHKEY_PUBLIC_URL: 'http://127.0.0.1:8080' },
  });
  const { token } = await createTestOperator(plain);
  const body = { token, password: TEST_PASSWORD };
  const answer = await plain.post(`${SESSION}/redeem`, body);
  assert.match(
    answer.headers.getSetCookie()[0] ?? '',
    /^latchkey=[\w-]{43}; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  assert.equal((await plain.get(SESSION, { cookie: cookieOf(answer) })).status, 200);
});

test('neither a token nor a password is stored or logged in plain text', async () => {
  const { token } = await createTestOperator(service);
  const body = { token, password: TEST_PASSWORD };
  const answer = await service.post(`${SESSION}/redeem`, body);
  const session = cookieOf(answer).split('=')[1] ?? '';
  const { rows } = await service.pool.query(
    `select t::text as row from operators t union all select t::text from operator_sessions t
     union all select t::text from operator_sign_in_links t union all select t::text from audit_log t`,
  );
  const written = JSON.stringify(rows) + service.log.join('');
  for (const secret of [token, session, TEST_PASSWORD]) {
    assert.equal(written.includes(secret), false);
    assert.equal(written.includes(Buffer.from(secret).toString('hex')), false);
  }
});

test('one-time codes stay valid after a rotation of the master secret', async () => {
  const browser = await redeemAsBrowser(service);
  const begun = readBody((await browser.post(`${SESSION}/totp`)).body);
  const secret = String(begun['secret']);
  const code = () => totpCode(secret, totpStep(service.clock.now()));
  await browser.post(`${SESSION}/totp/enable`, { code: code() });
  const rotating = await startTestService({
    beside: service,
    masterSecret: NEW_SECRET,
    previousSecrets: [TEST_MASTER_SECRET],
  });
  const { operatorTotp } = await rotateMasterSecret(rotating.context, 'test', () => {});
  assert.deepEqual(operatorTotp, { rewritten: 1, failed: 0 });
  const after = await startTestService({ beside: service, masterSecret: NEW_SECRET });
  service.clock.advance(DAY_MS);
  const signIn = { email: browser.email, password: TEST_PASSWORD, code: code() };
  assert.equal((await after.post(SESSION, signIn)).status, 200);
});
