/** Forged tokens of the identity provider, such as somebody between it and the service could send. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { exportSPKI, SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';

import { readBody } from '../acceptance/bodies.ts';
import { startTestService, TEST_ISSUER } from '../harness.ts';
import { anyAddress } from '../http-client.ts';
import {
  createProviderKey,
  signAs,
  startStubProvider,
  type StubSettings,
} from '../stub-provider.ts';

const SESSION = '/api/v1/admin/session';

const key = await createProviderKey('one');
const other = await createProviderKey('two');
const elliptic = await createProviderKey('three', 'ES256');

const USUAL: StubSettings = {
  keys: [key],
  algorithms: ['RS256'],
  sign: signAs(key),
  signUserInfo: null,
  padding: '',
};

const resources = new AsyncDisposableStack();
after(() => resources.disposeAsync());
const person = { sub: 'anna', email: 'anna@example.com', email_verified: true };
const provider = await startStubProvider({ ...USUAL }, person, resources);
const service = await startTestService({
  settings: {
    LATCHKEY_OIDC_ISSUER: provider.issuer,
    LATCHKEY_OIDC_CLIENT_ID: 'latchkey',
    LATCHKEY_OIDC_ROLES: 'admin=anna@example.com',
  },
  oidcClientSecret: 'a secret of the tests',
});

/** Signs in while the provider has other settings; returns whether a session began. */
async function signIn(changes: Partial<StubSettings> = {}): Promise<boolean> {
  Object.assign(provider.settings, USUAL, changes);
  const begun = await service.post(`${SESSION}/provider/begin`, {});
  assert.equal(begun.status, 200, begun.text);
  const cookie = begun.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
  const path = provider.answer(String(readBody(begun.body)['url']));
  const headers = { cookie, 'x-forwarded-for': anyAddress() };
  const response = await fetch(service.url + path, { redirect: 'manual', headers });
  assert.equal(response.status, 303);
  const isSignedIn = response.headers.get('location') === `${TEST_ISSUER}/console/`;
  const cookies = response.headers.getSetCookie();
  assert.equal(
    cookies.some((each) => /^__Host-latchkey=[\w-]{43};/u.test(each)),
    isSignedIn,
  );
  return isSignedIn;
}

const symmetric = new TextEncoder().encode(await exportSPKI(key.publicKey));

const withPublicKeyAsSecret = (claims: JWTPayload): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'one' }).sign(symmetric);

const unsigned = (claims: JWTPayload): string => new UnsecuredJWT(claims).encode();

const withoutKid = (claims: JWTPayload): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(key.privateKey);

/** Another payload under the signature of the right one. */
async function changed(claims: JWTPayload): Promise<string> {
  const [header = '', , signature = ''] = (await signAs(key)(claims)).split('.');
  const [, payload = ''] = (await signAs(key)({ ...claims, name: 'Mallory' })).split('.');
  return [header, payload, signature].join('.');
}

describe('an ID token signs in', () => {
  test('with the signature of a published key, by an announced algorithm', async () => {
    assert.equal(await signIn(), true);
    assert.equal(await signIn({ algorithms: null }), true);
    const keys = [other, key, elliptic];
    assert.equal(await signIn({ keys }), true);
    assert.equal(await signIn({ keys, sign: signAs(other) }), true);
    const algorithms = ['none', 'HS256', 'RS256', 'ES256'];
    assert.equal(await signIn({ keys, algorithms, sign: signAs(elliptic) }), true);
  });

  test('with a replaced key, at once', async () => {
    assert.equal(await signIn({ keys: [key] }), true);
    assert.equal(await signIn({ keys: [other], sign: signAs(other) }), true);
    assert.equal(await signIn({ keys: [other] }), false);
  });
});

describe('an ID token is refused', () => {
  const announced = ['none', 'HS256', 'RS256'];

  test('with the signature of another key under the same id', async () => {
    assert.equal(await signIn({ sign: signAs({ ...other, kid: 'one' }) }), false);
  });

  test('with an id that no published key has, and without one where there are several', async () => {
    assert.equal(await signIn({ sign: signAs(other) }), false);
    assert.equal(await signIn({ keys: [key, other], sign: withoutKid }), false);
  });

  test('without a signature, also where the provider announces that', async () => {
    for (const algorithms of [['RS256'], announced, ['none'], null]) {
      assert.equal(await signIn({ sign: unsigned, algorithms }), false, String(algorithms));
    }
  });

  test('signed with the public key as a shared secret, also where the provider announces that', async () => {
    for (const algorithms of [['RS256'], announced, ['HS256'], null]) {
      const settings = { sign: withPublicKeyAsSecret, algorithms };
      assert.equal(await signIn(settings), false, String(algorithms));
    }
  });

  test('by an algorithm that the provider does not announce', async () => {
    const settings = { keys: [key, elliptic], sign: signAs(elliptic) };
    assert.equal(await signIn({ ...settings, algorithms: ['RS256'] }), false);
    assert.equal(await signIn({ ...settings, algorithms: null }), false);
  });

  test('that was changed after it was signed', async () => {
    assert.equal(await signIn({ sign: changed }), false);
  });

  test('when the answer with the keys is too long', async () => {
    assert.equal(await signIn({ padding: 'x'.repeat(1_048_576) }), false);
  });
});

describe('a signed user info', () => {
  test('is verified like the ID token', async () => {
    assert.equal(await signIn({ signUserInfo: signAs(key) }), true);
    for (const signUserInfo of [
      signAs({ ...other, kid: 'one' }),
      signAs(other),
      withPublicKeyAsSecret,
      unsigned,
    ]) {
      const algorithms = ['none', 'HS256', 'RS256'];
      assert.equal(await signIn({ signUserInfo, algorithms }), false);
    }
  });
});
