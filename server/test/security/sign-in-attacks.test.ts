import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { mock, test } from 'node:test';

import { disableOperator } from '#server/features/operators/manage.ts';
import { totpCode, totpStep } from '#server/features/operators/rules/totp.ts';

import { problem, readBody } from '../acceptance/bodies.ts';
import { startTestService, type TestService } from '../harness.ts';
import { anyAddress, type Answer } from '../http-client.ts';
import {
  browse,
  cookieOf,
  createTestOperator,
  openBrowser,
  redeemAsBrowser,
  TEST_PASSWORD,
} from '../operator-steps.ts';
import { SECOND_MS } from '../test-clock.ts';

const SESSION = '/api/v1/admin/session';

const service = await startTestService();
const { clock } = service;

function signIn(email: string, more: object = {}, of: TestService = service): Promise<Answer> {
  const body = { email, password: TEST_PASSWORD, ...more };
  return of.post(SESSION, body, { 'x-forwarded-for': anyAddress() });
}

/** Posts JSON with another Host than the address. */
async function postAs(host: string, url: string, body: object) {
  const sent = request(url, {
    method: 'POST',
    headers: { host, 'content-type': 'application/json' },
  }).end(JSON.stringify(body));
  const [response] = await once(sent, 'response');
  const { code } = readBody(await json(response));
  return { status: Number(response.statusCode), code };
}

test('over plain HTTP, a password is refused where it would cross a network', async () => {
  const plain = await startTestService({
    beside: service,
    settings: { LATCHKEY_PUBLIC_URL: 'http://license.example.com' },
  });
  const { token } = await createTestOperator(plain);
  // The tests connect to 127.0.0.1, as a proxy on the same machine does that keeps the Host of its client.
  const raw = (path: string, body: object) => postAs('license.example.com', plain.url + path, body);
  const refused = { status: 403, code: 'https_required' };
  assert.deepEqual(await raw(`${SESSION}/redeem`, { token, password: TEST_PASSWORD }), refused);
  assert.deepEqual(await raw(SESSION, { email: 'a@example.com', password: 'x' }), refused);
  assert.deepEqual(await raw(`${SESSION}/proxy`, {}), refused);
});

test('a stolen cookie is worth nothing after the sign-out, a proof or the end of the session', async () => {
  const browser = await redeemAsBrowser(service);
  const stolen = { cookie: browser.cookie };
  const proved = await browser.post(`${SESSION}/prove`, { password: TEST_PASSWORD });
  assert.equal((await service.get(SESSION, stolen)).status, 401);
  const renewed = browse(service, { id: browser.operatorId, email: '' }, cookieOf(proved));
  await renewed.post(`${SESSION}/sign-out`);
  assert.equal((await service.get(SESSION, { cookie: cookieOf(proved) })).status, 401);
});

test('a one-time code is accepted once, by all processes together', async () => {
  const other = await startTestService({ beside: service });
  const browser = await redeemAsBrowser(service);
  const { secret } = readBody((await browser.post(`${SESSION}/totp`)).body);
  const code = () => totpCode(String(secret), totpStep(clock.now()));
  await browser.post(`${SESSION}/totp/enable`, { code: code() });
  clock.advance(30 * SECOND_MS);
  const answers = await Promise.all(
    [service, other, service, other].map((each) => signIn(browser.email, { code: code() }, each)),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
});

test('a code of a clock that is one step off is accepted, of one that is further off refused', async () => {
  const browser = await redeemAsBrowser(service);
  const { secret } = readBody((await browser.post(`${SESSION}/totp`)).body);
  const codeAt = (steps: number) => totpCode(String(secret), totpStep(clock.now()) + steps);
  await browser.post(`${SESSION}/totp/enable`, { code: codeAt(0) });
  for (const [steps, status] of [
    [2, 401],
    [-2, 401],
    [1, 200],
  ] as const) {
    assert.equal((await signIn(browser.email, { code: codeAt(steps) })).status, status, `${steps}`);
  }
});

test('a clock that was set back neither extends a session nor makes a proof fresh again', async () => {
  const browser = await openBrowser(service);
  clock.advance(-3_600 * SECOND_MS);
  const { expires_at: end } = readBody((await browser.get(SESSION)).body);
  clock.advance(3_600 * SECOND_MS);
  assert.equal(readBody((await browser.get(SESSION)).body)['expires_at'], end);
  clock.advance(600 * SECOND_MS);
  assert.equal((await browser.post(`${SESSION}/totp`)).status, 403);
});

test('every refused sign-in hashes one password, so that it takes the time of a known address', async () => {
  const known = await redeemAsBrowser(service);
  const disabled = await redeemAsBrowser(service);
  await disableOperator(service.context, disabled, { actor: 'test', reason: null });
  const invited = await createTestOperator(service);
  const { mock: calls } = mock.method(service.context.passwords, 'verify');
  for (const email of [known.email, disabled.email, invited.email, 'nobody@example.com']) {
    calls.resetCalls();
    const answer = await signIn(email, { password: 'wrong password' });
    assert.deepEqual(answer.body, problem('sign_in_failed'));
    assert.equal(calls.callCount(), 1, email);
  }
  calls.restore();
});

test('an operator learns nothing of another one by guessing ids', async () => {
  const victim = await openBrowser(service);
  const viewer = await openBrowser(service, 'viewer');
  for (const path of [
    `/api/v1/admin/operators/${victim.operatorId}`,
    `/api/v1/admin/operators/${victim.operatorId}/sessions`,
    '/api/v1/admin/operators/0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
  ]) {
    const answer = await viewer.get(path);
    const detail = 'This needs the role admin.';
    assert.deepEqual(answer.body, problem('forbidden', { detail }), path);
  }
});
