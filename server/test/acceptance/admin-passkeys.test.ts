import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { disableOperator, resetOperator } from '#server/features/operators/manage.ts';

import { startTestService } from '../harness.ts';
import { anyAddress, type Answer } from '../http-client.ts';
import { browse, cookieOf, openBrowser, redeemAsBrowser, type Browser } from '../operator-steps.ts';
import { SoftwareAuthenticator, type Deviation } from '../software-authenticator.ts';
import { SECOND_MS } from '../test-clock.ts';
import { problem, readBody, readItems } from './bodies.ts';

const SESSION = '/api/v1/admin/session';
const MINUTE_MS = 60 * SECOND_MS;
const change = { actor: 'test', reason: null };

const service = await startTestService();
const { clock, context } = service;

const REFUSED = problem('sign_in_failed', {
  detail: 'The passkey was not accepted: try again, or sign in another way.',
});
const UNUSABLE = problem('not_possible', {
  detail: 'The passkey could not be verified: try again, or use another authenticator.',
});

/** Present and verified, with the flags BE and BS, BE, and BS of WebAuthn. */
const [SYNCED, ELIGIBLE, COPIED_ONLY] = [0x1d, 0x0d, 0x15];

async function beginRegistration(browser: Browser): Promise<Readonly<Record<string, unknown>>> {
  const answer = await browser.post(`${SESSION}/passkeys/begin`);
  assert.equal(answer.status, 200, answer.text);
  return readBody(answer.body);
}

async function register(
  browser: Browser,
  authenticator = new SoftwareAuthenticator(),
  name = 'Laptop',
  deviation: Deviation = {},
): Promise<{ answer: Answer; authenticator: SoftwareAuthenticator }> {
  const { challenge } = await beginRegistration(browser);
  const body = authenticator.register(String(challenge), name, deviation);
  return { answer: await browser.post(`${SESSION}/passkeys`, body), authenticator };
}

async function newChallenge(): Promise<string> {
  const answer = await service.post(`${SESSION}/passkey/begin`, {});
  assert.equal(answer.status, 200, answer.text);
  return String(readBody(answer.body)['challenge']);
}

async function signIn(
  authenticator: SoftwareAuthenticator,
  deviation: Deviation = {},
  challenge?: string,
): Promise<Answer> {
  const body = authenticator.assert(challenge ?? (await newChallenge()), deviation);
  return service.post(`${SESSION}/passkey`, body);
}

async function expectRefused(answer: Promise<Answer> | Answer): Promise<void> {
  const { status, body } = await answer;
  assert.deepEqual([status, body], [401, REFUSED]);
}

describe('a passkey', () => {
  test('is registered with a name, listed, and removed', async () => {
    const browser = await openBrowser(service);
    const begun = await beginRegistration(browser);
    assert.equal(begun['rp_id'], 'license.example.com');
    assert.equal(begun['user_name'], browser.email);
    const { answer, authenticator } = await register(browser);
    const { id } = readBody(answer.body);
    assert.deepEqual(answer.body, {
      id,
      credential_id: authenticator.id.toString('base64url'),
      name: 'Laptop',
      is_synced: false,
      created_at: clock.now().toISOString(),
      last_used_at: null,
    });
    await register(browser, new SoftwareAuthenticator(), 'Phone', { flags: 0x1d });
    const items = readItems((await browser.get(`${SESSION}/passkeys`)).body);
    assert.deepEqual(
      items.map((each) => [each['name'], each['is_synced']]),
      [
        ['Laptop', false],
        ['Phone', true],
      ],
    );
    const { exclude } = await beginRegistration(browser);
    assert.deepEqual(
      exclude,
      items.map((each) => each['credential_id']),
    );
    assert.equal(readBody((await browser.get(SESSION)).body)['passkeys'], 2);
    const remove = () => browser.post(`${SESSION}/passkeys/${String(id)}/remove`);
    assert.equal((await remove()).status, 200);
    await expectRefused(signIn(authenticator));
    const detail = 'You have no such passkey.';
    assert.deepEqual((await remove()).body, problem('not_found', { detail }));
    const { rows } = await service.pool.query(
      'select action from audit_log where subject_id = $1 order by sequence desc limit 3',
      [browser.operatorId],
    );
    assert.deepEqual(
      rows.map(({ action }) => action),
      ['operator.remove_passkey', 'operator.add_passkey', 'operator.add_passkey'],
    );
  });

  for (const kind of ['es256', 'ed25519', 'rs256'] as const) {
    test(`signs in with both factors: ${kind}`, async () => {
      const browser = await openBrowser(service, 'support');
      const { authenticator } = await register(browser, new SoftwareAuthenticator(kind));
      const answer = await signIn(authenticator);
      assert.equal(answer.status, 200, answer.text);
      assert.equal(readBody(answer.body)['email'], browser.email);
      const signedIn = browse(service, { id: browser.operatorId, email: '' }, cookieOf(answer));
      const [passkey] = readItems((await signedIn.get(`${SESSION}/passkeys`)).body);
      assert.equal(passkey?.['last_used_at'], clock.now().toISOString());
    });
  }

  test('proves freshness of its own operator only', async () => {
    const browser = await openBrowser(service);
    const { authenticator } = await register(browser);
    const other = await openBrowser(service);
    const { authenticator: foreign } = await register(other);
    clock.advance(10 * MINUTE_MS);
    assert.equal((await browser.post(`${SESSION}/passkeys/begin`)).status, 403);
    const prove = async (used: SoftwareAuthenticator) =>
      browser.post(`${SESSION}/passkey/prove`, used.assert(await newChallenge()));
    await expectRefused(prove(foreign));
    const proved = await prove(authenticator);
    assert.equal(proved.status, 200, proved.text);
    const renewed = browse(service, { id: browser.operatorId, email: '' }, cookieOf(proved));
    assert.equal((await renewed.post(`${SESSION}/passkeys/begin`)).status, 200);
    assert.equal((await browser.get(SESSION)).status, 401);
  });

  test('ends with a reset, and does not sign in a disabled operator', async () => {
    const browser = await redeemAsBrowser(service, 'viewer');
    const { authenticator } = await register(browser);
    await disableOperator(context, browser, change);
    await expectRefused(signIn(authenticator));
    const reset = await openBrowser(service, 'viewer');
    const { authenticator: second } = await register(reset);
    await resetOperator(context, reset, change);
    await expectRefused(signIn(second));
  });
});

describe('a passkey is refused', () => {
  test('whose challenge was used before, also by a concurrent request', async () => {
    const { authenticator } = await register(await openBrowser(service));
    const challenge = await newChallenge();
    const answers = await Promise.all([1, 2].map(() => signIn(authenticator, {}, challenge)));
    assert.deepEqual(
      answers.map(({ status }) => status).toSorted((a, b) => a - b),
      [200, 401],
    );
    await expectRefused(signIn(authenticator, {}, challenge));
    // The same bytes in another text.
    await expectRefused(signIn(authenticator, {}, `${challenge}==`));
  });

  test('whose challenge expired, or was not created by the service', async () => {
    const browser = await openBrowser(service);
    const { authenticator } = await register(browser);
    const challenge = await newChallenge();
    clock.advance(5 * MINUTE_MS);
    await expectRefused(signIn(authenticator, {}, challenge));
    await expectRefused(signIn(authenticator, {}, 'x'.repeat(72)));
    await expectRefused(signIn(authenticator, {}, ''));
    const { challenge: ofRegistration } = await beginRegistration(browser);
    await expectRefused(signIn(authenticator, {}, String(ofRegistration)));
  });

  test('of another origin, another host, another operation, or an embedded page', async () => {
    const { authenticator } = await register(await openBrowser(service));
    for (const deviation of [
      { origin: 'https://license.example.com.evil.example' },
      { origin: 'http://license.example.com' },
      { rpId: 'example.com' },
      { rpId: 'evil.example' },
      { type: 'webauthn.create' },
      { crossOrigin: true },
      { crossOrigin: 'true' },
      { topOrigin: 'https://evil.example' },
    ]) {
      await expectRefused(signIn(authenticator, deviation));
    }
    assert.equal((await signIn(authenticator)).status, 200);
  });

  test('without a present and verified user', async () => {
    const { authenticator } = await register(await openBrowser(service));
    for (const flags of [0x00, 0x01, 0x04]) await expectRefused(signIn(authenticator, { flags }));
  });

  test('with the signature or the id of another credential', async () => {
    const { authenticator: one } = await register(await openBrowser(service));
    const { authenticator: two } = await register(await openBrowser(service));
    const challenge = await newChallenge();
    const [right, wrong] = [one.assert(challenge), two.assert(challenge)];
    for (const body of [
      { ...right, signature: wrong.signature },
      { ...right, credential_id: wrong.credential_id },
      { ...right, credential_id: 'dW5rbm93bg' },
      { ...right, signature: '' },
      { ...right, client_data: 'bm8ganNvbg' },
      { ...right, authenticator_data: 'c2hvcnQ' },
    ]) {
      await expectRefused(service.post(`${SESSION}/passkey`, body));
    }
  });

  test('whose counter went back, unless it is synced', async () => {
    const { authenticator } = await register(await openBrowser(service));
    assert.equal((await signIn(authenticator, { signCount: 7 })).status, 200);
    await expectRefused(signIn(authenticator, { signCount: 7 }));
    await expectRefused(signIn(authenticator, { signCount: 0 }));
    assert.ok(service.log.some((line) => line.includes('operator.passkey_copied')));
    assert.equal((await signIn(authenticator, { signCount: 8 })).status, 200);
    const browser = await openBrowser(service);
    const own = new SoftwareAuthenticator();
    await register(browser, own, 'Phone', { flags: SYNCED, signCount: 5 });
    assert.equal((await signIn(own, { flags: SYNCED, signCount: 9 })).status, 200);
    assert.equal((await signIn(own, { flags: SYNCED, signCount: 1 })).status, 200);
    assert.equal((await signIn(own, { flags: ELIGIBLE, signCount: 2 })).status, 200);
    await expectRefused(signIn(own, { flags: ELIGIBLE, signCount: 2 }));
  });

  test('that claims to be synced, or no longer to be, against its registration', async () => {
    const browser = await openBrowser(service);
    const { authenticator } = await register(browser, undefined, 'Key', { signCount: 5 });
    await expectRefused(signIn(authenticator, { flags: SYNCED, signCount: 3 }));
    await expectRefused(signIn(authenticator, { flags: SYNCED, signCount: 6 }));
    await expectRefused(signIn(authenticator, { flags: ELIGIBLE, signCount: 6 }));
    await expectRefused(signIn(authenticator, { flags: COPIED_ONLY, signCount: 6 }));
    assert.equal((await signIn(authenticator, { signCount: 6 })).status, 200);
    const phone = new SoftwareAuthenticator();
    await register(browser, phone, 'Phone', { flags: SYNCED });
    await expectRefused(signIn(phone, { signCount: 1 }));
  });

  test('that an earlier version registered: it learns at the first use whether it may be synced', async () => {
    const { authenticator } = await register(await openBrowser(service), undefined, 'Key', {
      signCount: 5,
    });
    await service.pool.query(
      `update operator_passkeys set is_backup_eligible = null where credential_id = $1`,
      [authenticator.id],
    );
    await expectRefused(signIn(authenticator, { flags: SYNCED, signCount: 3 }));
    assert.equal((await signIn(authenticator, { signCount: 6 })).status, 200);
    await expectRefused(signIn(authenticator, { flags: SYNCED, signCount: 7 }));
    assert.equal((await signIn(authenticator, { signCount: 7 })).status, 200);
  });

  test('after 20 failures of a network', async () => {
    const address = anyAddress();
    const body = new SoftwareAuthenticator().assert(await newChallenge());
    const guess = () => service.post(`${SESSION}/passkey`, body, { 'x-forwarded-for': address });
    for (let count = 0; count < 20; count += 1) await expectRefused(guess());
    assert.equal((await guess()).status, 429);
  });
});

describe('a registration is refused', () => {
  test('without a verified user, of another origin or host, with another key or id', async () => {
    const browser = await openBrowser(service);
    for (const deviation of [
      { flags: 0x01 },
      { flags: COPIED_ONLY },
      { origin: 'https://evil.example' },
      { rpId: 'evil.example' },
      { type: 'webauthn.get' },
      { crossOrigin: true },
      { topOrigin: 'https://evil.example' },
    ]) {
      const { answer } = await register(browser, new SoftwareAuthenticator(), 'x', deviation);
      assert.deepEqual([answer.status, answer.body], [409, UNUSABLE]);
    }
    const { answer } = await register(browser, new SoftwareAuthenticator('es384'));
    assert.deepEqual(answer.body, UNUSABLE);
    const { challenge } = await beginRegistration(browser);
    const body = new SoftwareAuthenticator().register(String(challenge), 'x');
    const renamed = { ...body, credential_id: 'b3RoZXI' };
    assert.deepEqual((await browser.post(`${SESSION}/passkeys`, renamed)).body, UNUSABLE);
  });

  test('with a challenge of another operator, of a sign-in, or one that was used', async () => {
    const browser = await openBrowser(service);
    const other = await openBrowser(service);
    const { challenge } = await beginRegistration(other);
    const authenticator = new SoftwareAuthenticator();
    const post = (text: unknown) =>
      browser.post(`${SESSION}/passkeys`, authenticator.register(String(text), 'x'));
    assert.deepEqual((await post(challenge)).body, UNUSABLE);
    assert.deepEqual((await post(await newChallenge())).body, UNUSABLE);
    const { challenge: own } = await beginRegistration(browser);
    assert.equal((await post(own)).status, 200);
    assert.deepEqual((await post(own)).body, UNUSABLE);
    const detail = 'This passkey is registered already.';
    const { answer } = await register(other, authenticator);
    assert.deepEqual(answer.body, problem('not_possible', { detail }));
  });

  test('beyond 20 passkeys of an operator', async () => {
    const browser = await openBrowser(service);
    await service.pool.query(
      `insert into operator_passkeys
         (id, operator_id, credential_id, public_key, sign_count, is_synced, name, created_at)
       select gen_random_uuid(), $1, sha256(int4send(n)), '', 0, false, 'x', now()
       from generate_series(1, 20) n`,
      [browser.operatorId],
    );
    const { answer } = await register(browser);
    const detail = 'You have 20 passkeys: remove one first.';
    assert.deepEqual([answer.status, answer.body], [409, problem('not_possible', { detail })]);
  });

  test('where the public URL has no https or no host name', async () => {
    for (const [url, isPossible] of [
      ['https://192.0.2.7', false],
      ['http://localhost:8080', true],
    ] as const) {
      const other = await startTestService({
        beside: service,
        settings: { LATCHKEY_PUBLIC_URL: url },
      });
      const { body } = await other.get(`${SESSION}/methods`);
      assert.equal(readBody(body)['passkeys'], isPossible, url);
      const begun = await other.post(`${SESSION}/passkey/begin`, {});
      assert.equal(begun.status, isPossible ? 200 : 409, url);
    }
  });
});
