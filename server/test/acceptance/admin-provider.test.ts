import assert from 'node:assert/strict';
import { after, describe, mock, test } from 'node:test';

import { disableOperator, resetOperator } from '#server/features/operators/manage.ts';

import { startTestService, TEST_ISSUER, type TestService } from '../harness.ts';
import { anyAddress, type Answer, type RequestHeaders } from '../http-client.ts';
import {
  CLIENT_SECRET,
  startIdentityProvider,
  visitProvider,
  type Cookies,
} from '../identity-provider.ts';
import {
  browse,
  cookieOf,
  createTestOperator,
  openBrowser,
  redeemAsBrowser,
  TEST_PASSWORD,
} from '../operator-steps.ts';
import { problem, readBody, validationErrorsOf } from './bodies.ts';

const SESSION = '/api/v1/admin/session';
const CALLBACK = `${SESSION}/provider/callback`;
const change = { actor: 'test', reason: null };

const verified = { email_verified: true };
const PEOPLE = {
  anna: { ...verified, email: 'Anna@example.com', name: 'Anna', groups: [] },
  ben: { ...verified, email: 'ben@example.com', name: 'Ben', groups: ['helpdesk', 'others'] },
  carl: { ...verified, email: 'carl@example.com', groups: ['others'] },
  dora: { ...verified, email: 'dora@example.com', groups: ['helpdesk'] },
  eve: { email: 'anna@example.com', email_verified: false, name: 'Eve' },
  mallory: { email: 'mallory@example.com', email_verified: false, groups: ['helpdesk'] },
  twin: { ...verified, email: 'ben@example.com', groups: ['helpdesk'] },
};

const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());
const issuer = await startIdentityProvider(PEOPLE, TEST_ISSUER + CALLBACK, resources);
const settings = {
  LATCHKEY_OIDC_ISSUER: issuer,
  LATCHKEY_OIDC_CLIENT_ID: 'latchkey',
  LATCHKEY_OIDC_ROLES: 'admin=anna@example.com,support=helpdesk',
  LATCHKEY_OIDC_NAME: 'Example login',
};
const service = await startTestService({ settings, oidcClientSecret: CLIENT_SECRET });

interface Begun {
  readonly url: string;
  readonly cookie: string;
}

function toBegun(answer: Answer): Begun {
  assert.equal(answer.status, 200, answer.text);
  const [cookie = ''] = answer.headers.getSetCookie();
  assert.match(cookie, /^__Host-latchkey-provider=.*; HttpOnly; SameSite=Lax; Secure$/);
  return { url: String(readBody(answer.body)['url']), cookie: cookie.split(';', 1)[0] ?? '' };
}

async function begin(of: TestService = service): Promise<Begun> {
  return toBegun(await of.post(`${SESSION}/provider/begin`, {}));
}

async function beginProof(session: string, returnTo?: string): Promise<Begun> {
  const headers = { cookie: session, origin: TEST_ISSUER };
  const body = returnTo === undefined ? {} : { return_to: returnTo };
  return toBegun(await service.post(`${SESSION}/provider/prove`, body, headers));
}

/** Opens the callback as the browser does; returns where it leads, and the cookie of the session. */
async function callBack(path: string, cookie: string, address = anyAddress()) {
  const headers = { cookie, 'x-forwarded-for': address, 'sec-fetch-site': 'cross-site' };
  const response = await fetch(service.url + path, { redirect: 'manual', headers });
  assert.equal(response.status, 303);
  const session = response.headers
    .getSetCookie()
    .find((each) => each.startsWith('__Host-latchkey='))
    ?.split(';', 1)[0];
  return { to: response.headers.get('location'), session };
}

async function signIn(login: string) {
  const { url, cookie } = await begin();
  return callBack(await visitProvider(url, login, TEST_ISSUER), cookie);
}

async function whoIs(session: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  return readBody((await service.get(SESSION, { cookie: session ?? '' })).body);
}

const REFUSED = `${TEST_ISSUER}/console/sign-in?problem=provider`;

describe('the identity provider', () => {
  test('signs in by e-mail address and by claim, and creates the operator', async () => {
    const { body } = await service.get(`${SESSION}/methods`);
    assert.equal(readBody(body)['provider'], 'Example login');
    const anna = await signIn('anna');
    assert.equal(anna.to, `${TEST_ISSUER}/console/`);
    const { email, name, role, has_password: hasPassword } = await whoIs(anna.session);
    assert.deepEqual(
      [email, name, role, hasPassword],
      ['Anna@example.com', 'Anna', 'admin', false],
    );
    const ben = await whoIs((await signIn('ben')).session);
    assert.deepEqual([ben['name'], ben['role']], ['Ben', 'support']);
    assert.equal((await whoIs((await signIn('ben')).session))['id'], ben['id']);
    const { rows } = await service.pool.query(
      'select action from audit_log where subject_id = $1 order by sequence',
      [ben['id']],
    );
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['operator.create', 'operator.sign_in', 'operator.sign_in'],
    );
  });

  test('assigns its role again to an operator that has another one', async () => {
    const { id } = await whoIs((await signIn('ben')).session);
    await service.pool.query(`update operators set role = 'admin' where id = $1`, [id]);
    assert.equal((await whoIs((await signIn('ben')).session))['role'], 'support');
  });

  test('signs nobody in without a role, a verified address or an enabled operator', async () => {
    for (const login of ['carl', 'eve', 'mallory', 'nobody']) {
      assert.deepEqual(await signIn(login), { to: REFUSED, session: undefined }, login);
    }
    await signIn('ben');
    assert.deepEqual(await signIn('twin'), { to: REFUSED, session: undefined });
    await disableOperator(service.context, { email: 'ben@example.com' }, change);
    await service.pool.query(`update operators set role = 'viewer' where disabled_at is not null`);
    assert.deepEqual(await signIn('ben'), { to: REFUSED, session: undefined });
    const { rows } = await service.pool.query(
      'select role from operators where disabled_at is not null',
    );
    assert.deepEqual(rows, [{ role: 'viewer' }]);
    await service.pool.query('update operators set disabled_at = null');
  });

  test('signs in another person with the address of an operator only after a reset', async () => {
    const { id } = await whoIs((await signIn('ben')).session);
    await resetOperator(service.context, { id: String(id) }, change);
    assert.equal((await whoIs((await signIn('twin')).session))['id'], id);
    assert.equal((await signIn('ben')).to, REFUSED);
    await resetOperator(service.context, { id: String(id) }, change);
  });

  test('is refused with the state of another browser, a changed one, or a second time', async () => {
    const one = await begin();
    const two = await begin();
    const path = await visitProvider(one.url, 'anna', TEST_ISSUER);
    for (const [way, cookie] of [
      [path, two.cookie],
      [path, ''],
      [path, `${one.cookie.slice(0, -4)}AAAA`],
      [path.replace(/state=[^&]+/, 'state=x'), one.cookie],
      [path.replace(/code=[^&]+/, 'code=x'), one.cookie],
      [`${CALLBACK}?error=access_denied`, one.cookie],
      [CALLBACK, one.cookie],
    ] as const) {
      assert.deepEqual(await callBack(way, cookie), { to: REFUSED, session: undefined });
    }
    const fresh = await begin();
    const used = await visitProvider(fresh.url, 'anna', TEST_ISSUER);
    assert.notEqual((await callBack(used, fresh.cookie)).session, undefined);
    assert.equal((await callBack(used, fresh.cookie)).session, undefined);
    const late = await begin();
    const latePath = await visitProvider(late.url, 'anna', TEST_ISSUER);
    service.clock.advance(600_000);
    assert.equal((await callBack(latePath, late.cookie)).session, undefined);
  });

  test('is asked for at most 20 wrong codes of a network', async () => {
    const address = anyAddress();
    const { url, cookie } = await begin();
    const path = await visitProvider(url, 'anna', TEST_ISSUER);
    const exchanges = mock.method(service.context.provider ?? assert.fail(), 'complete').mock;
    const wrong = path.replace(/code=[^&]+/, 'code=x');
    for (let count = 0; count < 21; count += 1) await callBack(wrong, cookie, address);
    assert.equal(exchanges.callCount(), 20);
    assert.equal((await callBack(path, cookie, address)).session, undefined);
    service.clock.advance(15_000);
    assert.notEqual((await callBack(path, cookie, address)).session, undefined);
    exchanges.restore();
  });

  test('proves the freshness of its own operator only', async () => {
    const { session = '' } = await signIn('anna');
    const prove = async (login: string) => {
      const begun = await beginProof(session);
      return callBack(await visitProvider(begun.url, login, TEST_ISSUER), begun.cookie);
    };
    const count = await service.count('operators');
    for (const login of ['ben', 'dora']) assert.equal((await prove(login)).session, undefined);
    assert.equal(await service.count('operators'), count);
    const renewed = await prove('anna');
    assert.notEqual(renewed.session, session);
    assert.equal((await whoIs(renewed.session))['name'], 'Anna');
    assert.equal((await service.get(SESSION, { cookie: session })).status, 401);
  });

  test('returns to the page of the console that was asked for, with the problem of a failure', async () => {
    const page = '/console/licenses?status=active';
    const { session = '' } = await signIn('anna');
    const failing = await beginProof(session, page);
    assert.deepEqual(
      await callBack(await visitProvider(failing.url, 'ben', TEST_ISSUER), failing.cookie),
      { to: `${TEST_ISSUER}${page}&problem=provider`, session: undefined },
    );
    const proof = await beginProof(session, page);
    const proved = await callBack(
      await visitProvider(proof.url, 'anna', TEST_ISSUER),
      proof.cookie,
    );
    assert.equal(proved.to, TEST_ISSUER + page);
    const body = { return_to: '/console/sign-in?next=%2Faudit' };
    const begun = toBegun(await service.post(`${SESSION}/provider/begin`, body));
    const signedIn = await callBack(
      await visitProvider(begun.url, 'anna', TEST_ISSUER),
      begun.cookie,
    );
    assert.equal(signedIn.to, TEST_ISSUER + body.return_to);
  });

  test('returns to no other host and no other path', async () => {
    for (const path of [
      'https://evil.example/console',
      '//evil.example/console',
      '/console//evil.example',
      '/console\\evil.example',
      '/console/../api',
      '/',
    ]) {
      const answer = await service.post(`${SESSION}/provider/begin`, { return_to: path });
      assert.equal(answer.status, 422, path);
      assert.deepEqual(validationErrorsOf(answer.body), [['body.return_to', 'value_error']]);
      assert.equal(answer.headers.get('set-cookie'), null);
    }
  });

  test('counts no sign-in at the provider from before the proof was begun', async () => {
    const cookies: Cookies = new Map();
    const first = await begin();
    const path = await visitProvider(first.url, 'anna', TEST_ISSUER, cookies);
    const { session = '' } = await callBack(path, first.cookie);
    // The clock of the service goes on, and the browser leaves out that the provider shall ask again.
    const { now } = Date;
    const later = mock.method(Date, 'now', () => now() + 120_000);
    const repeat = async (maxAge: string | null) => {
      const { url, cookie } = await beginProof(session);
      const changed = new URL(url);
      assert.deepEqual(
        [changed.searchParams.get('prompt'), changed.searchParams.get('max_age')],
        ['login', '0'],
      );
      changed.searchParams.delete('prompt');
      changed.searchParams.delete('max_age');
      if (maxAge !== null) changed.searchParams.set('max_age', maxAge);
      return callBack(await visitProvider(changed.href, 'anna', TEST_ISSUER, cookies), cookie);
    };
    assert.deepEqual(await repeat('1000000'), { to: REFUSED, session: undefined });
    assert.deepEqual(await repeat(null), { to: REFUSED, session: undefined });
    later.mock.restore();
    assert.notEqual((await repeat('1000000')).session, undefined);
  });

  test('counts no sign-in at the provider that its clock puts in the future', async () => {
    service.clock.set(new Date());
    const { now } = Date;
    const earlier = mock.method(Date, 'now', () => now() - 120_000);
    const first = await begin();
    const { session = '' } = await callBack(
      await visitProvider(first.url, 'anna', TEST_ISSUER),
      first.cookie,
    );
    const { fresh_until: until } = await whoIs(session);
    assert.ok(Date.parse(String(until)) < service.clock.now().getTime(), String(until));
    const prove = async () => {
      const { url, cookie } = await beginProof(session);
      return callBack(await visitProvider(url, 'anna', TEST_ISSUER), cookie);
    };
    assert.deepEqual(await prove(), { to: REFUSED, session: undefined });
    earlier.mock.restore();
    assert.notEqual((await prove()).session, undefined);
  });

  test('begins a session as fresh as the sign-in at the provider is', async () => {
    service.clock.set(new Date());
    const cookies: Cookies = new Map();
    const freshSeconds = async () => {
      const { url, cookie } = await begin();
      const path = await visitProvider(url, 'anna', TEST_ISSUER, cookies);
      const { session } = await callBack(path, cookie);
      const until = Date.parse(String((await whoIs(session))['fresh_until']));
      return Math.round((until - service.clock.now().getTime()) / 1000);
    };
    const first = await freshSeconds();
    assert.ok(first > 540 && first <= 600, String(first));
    service.clock.advance(300_000);
    const second = await freshSeconds();
    assert.ok(second > 240 && second <= 300, String(second));
  });

  test('is not needed: a one-time link signs in while it is down, without a password', async () => {
    const down = await startTestService({
      beside: service,
      settings: {
        ...settings,
        LATCHKEY_OIDC_ISSUER: 'http://127.0.0.1:1',
        LATCHKEY_PASSWORDS: 'off',
      },
    });
    const begun = await down.post(`${SESSION}/provider/begin`, {});
    assert.deepEqual(begun.body, problem('provider_unavailable'));
    const { email, token } = await createTestOperator(down);
    const detail = 'Signing in with a password is switched off.';
    const refused = [409, problem('not_possible', { detail })];
    const withPassword = { token, password: TEST_PASSWORD };
    const early = await down.post(`${SESSION}/redeem`, withPassword);
    assert.deepEqual([early.status, early.body], refused);
    const redeemed = await down.post(`${SESSION}/redeem`, { token });
    assert.deepEqual([redeemed.status, readBody(redeemed.body)['has_password']], [200, false]);
    const browser = browse(down, { id: '', email }, cookieOf(redeemed));
    const changed = await browser.post(`${SESSION}/password`, { password: TEST_PASSWORD });
    assert.deepEqual([changed.status, changed.body], refused);
    const answer = await down.post(SESSION, { email, password: TEST_PASSWORD });
    assert.deepEqual([answer.status, answer.body], refused);
  });
});

describe('a trusted header', () => {
  const header = { LATCHKEY_TRUSTED_HEADER: 'X-Forwarded-Email' };
  const refused = problem('sign_in_failed', { detail: 'The proxy does not name an operator.' });

  test('signs in an existing operator from a named proxy, and nobody from elsewhere', async () => {
    const trusting = await startTestService({
      beside: service,
      settings: { ...header, LATCHKEY_TRUSTED_HEADER_PROXIES: '127.0.0.1' },
    });
    const { email } = await redeemAsBrowser(trusting, 'support');
    const named = { 'x-forwarded-email': email.toUpperCase() };
    const answer = await trusting.post(`${SESSION}/proxy`, {}, named);
    assert.deepEqual([answer.status, readBody(answer.body)['email']], [200, email]);
    assert.equal(readBody((await trusting.get(`${SESSION}/methods`, named)).body)['proxy'], true);
    assert.equal(readBody((await trusting.get(`${SESSION}/methods`)).body)['proxy'], false);
    const count = await service.count('operators');
    for (const value of ['nobody@example.com', '', ' ', `${email},${email}`]) {
      const other = await trusting.post(`${SESSION}/proxy`, {}, { 'x-forwarded-email': value });
      assert.deepEqual([other.status, other.body], [401, refused], value);
    }
    assert.equal(await service.count('operators'), count);
    await disableOperator(trusting.context, { email }, change);
    assert.equal((await trusting.post(`${SESSION}/proxy`, {}, named)).status, 401);
  });

  test('proves the freshness of the operator whom the proxy still names', async () => {
    const trusting = await startTestService({
      beside: service,
      settings: { ...header, LATCHKEY_TRUSTED_HEADER_PROXIES: '127.0.0.1' },
    });
    const browser = await openBrowser(trusting, 'support');
    const { email: other } = await openBrowser(trusting, 'support');
    const prove = (headers: RequestHeaders) => browser.post(`${SESSION}/proxy/prove`, {}, headers);
    for (const headers of [{}, { 'x-forwarded-email': other }]) {
      const answer = await prove(headers);
      assert.deepEqual([answer.status, answer.body], [401, refused]);
    }
    service.clock.advance(300_000);
    const proved = await prove({ 'x-forwarded-email': browser.email });
    const until = new Date(service.clock.now().getTime() + 600_000).toISOString();
    assert.deepEqual([proved.status, readBody(proved.body)['fresh_until']], [200, until]);
    assert.equal((await browser.get(SESSION)).status, 401);
    assert.equal((await whoIs(cookieOf(proved)))['email'], browser.email);
  });

  test('counts neither by default nor from loopback addresses that are not named', async () => {
    const { email } = await openBrowser(service);
    const elsewhere = await startTestService({
      beside: service,
      settings: { ...header, LATCHKEY_TRUSTED_HEADER_PROXIES: '10.0.0.0/8' },
    });
    for (const each of [service, elsewhere]) {
      const headers = { 'x-forwarded-email': email, 'x-forwarded-for': '10.0.0.5' };
      const answer = await each.post(`${SESSION}/proxy`, {}, headers);
      assert.deepEqual([answer.status, answer.body], [401, refused]);
    }
  });
});
