import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Type } from 'typebox';
import { Parse } from 'typebox/value';

import { AIRGAP_PRODUCT, createRequest } from '../airgap-steps.ts';
import { codeOf, startBuyerService } from '../buyer-steps.ts';
import { verifyEntitlement } from '../entitlements.ts';
import { startTestService } from '../harness.ts';
import { activate, anyMachine } from '../license-steps.ts';
import { fromStart, DAY_MS, TEST_START } from '../test-clock.ts';
import { problem, readBody, readItems, validationErrorsOf } from './bodies.ts';

const service = await startBuyerService();

const MINUTE_MS = 60_000;
const BASE = '/api/v1/buyers';

const Requested = Type.Object({ request_token: Type.String(), expires_at: Type.String() });
const SignedIn = Type.Object({ session: Type.String(), expires_at: Type.String() });

let buyers = 0;

async function requestCode(email: string) {
  const { status, body, text } = await service.post(`${BASE}/codes`, { email });
  assert.equal(status, 200, text);
  return Parse(Requested, body);
}

/** Issues a license to a new address, and signs it in. */
async function open(productId = 'personal') {
  const email = `owner${(buyers += 1)}@example.com`;
  const { license, licenseKey } = await service.issue({ productId, customerEmail: email });
  const { request_token: token } = await requestCode(email);
  const code = codeOf((await service.readMails()).at(-1));
  const answer = await service.post(`${BASE}/sessions`, { request_token: token, code });
  assert.equal(answer.status, 200, answer.text);
  const { session, expires_at: expiresAt } = Parse(SignedIn, answer.body);
  const headers = { 'x-buyer-session': session };
  return {
    email,
    license,
    licenseKey,
    expiresAt,
    get: (path: string) => service.get(`${BASE}${path}`, headers),
    post: (path: string, body: unknown = {}) => service.post(`${BASE}${path}`, body, headers),
    path: `/licenses/${license.id}`,
  };
}

describe('200', () => {
  test('a code is answered alike for every address, and expires after 15 minutes', async () => {
    const { email } = await open();
    for (const address of [email, 'nobody@example.com']) {
      const { expires_at: expiresAt, request_token: token } = await requestCode(address);
      assert.equal(expiresAt, fromStart(15 * MINUTE_MS));
      assert.match(token, /^[\w-]{43}$/u);
    }
  });

  test('a session of 30 minutes lists the licenses of the address', async () => {
    const { get, license, licenseKey, expiresAt } = await open(AIRGAP_PRODUCT);
    await activate(service, licenseKey);
    assert.equal(expiresAt, fromStart(30 * MINUTE_MS));
    const { body } = await get('/licenses');
    assert.deepEqual(body, {
      items: [
        {
          id: license.id,
          product_id: 'yearly',
          product_name: 'Yearly',
          key_hint: licenseKey.slice(-4),
          status: 'active',
          expires_at: fromStart(365 * DAY_MS),
          updates_until: null,
          max_activations: 3,
          active_activations: 1,
          airgap_days: 90,
        },
      ],
      has_more: false,
    });
  });

  test('lists the active machines of a license, and frees one', async () => {
    const { email, get, path, post, licenseKey } = await open();
    const machine = { ...anyMachine(), os_version: '15.1', app_version: '2.4.0' };
    const { activation_id: id } = await activate(service, licenseKey, machine);
    const { body } = await get(`${path}/machines`);
    const { items, ...rest } = readBody(body);
    assert.deepEqual(rest, { page: 1, pages: 1, moves_left: 4, moves_days: 30, portal_url: null });
    assert.deepEqual(items, [
      {
        activation_id: id,
        machine_id: machine.machine_id,
        os_version: '15.1',
        app_version: '2.4.0',
        last_seen_at: TEST_START.toISOString(),
        activated_at: TEST_START.toISOString(),
        airgapped_until: null,
      },
    ]);
    for (let count = 0; count < 2; count += 1) {
      const freed = await post(`${path}/machines/${id}/free`);
      assert.deepEqual([freed.status, freed.body], [200, { done: true }]);
    }
    assert.deepEqual(readItems((await get(`${path}/machines?page=7`)).body), []);
    const mails = (await service.readMails()).slice(1);
    assert.deepEqual(
      mails.map(({ to, subject }) => [to.address, subject]),
      [[email, 'A computer was removed from your license for Personal']],
    );
  });

  test('mails the keys', async () => {
    const { post, licenseKey } = await open();
    assert.deepEqual((await post('/keys')).body, { queued: true });
    const mail = (await service.readMails()).at(-1);
    assert.ok(mail?.text.includes(licenseKey));
  });

  test('ends the session', async () => {
    const { get, post } = await open();
    assert.deepEqual((await post('/sign-out')).body, { done: true });
    const answer = await get('/licenses');
    assert.deepEqual([answer.status, answer.body], [401, problem('buyer_session_invalid')]);
  });

  test('can be used by a page of another origin', async () => {
    const { status, headers } = await service.send('OPTIONS', `${BASE}/licenses`);
    assert.equal(status, 204);
    assert.match(headers.get('access-control-allow-headers') ?? '', /\bX-Buyer-Session\b/u);
  });

  test('activates a machine without a connection', async () => {
    const { path, post, license } = await open(AIRGAP_PRODUCT);
    const { status, body } = await post(`${path}/activate-airgapped`, { request: createRequest() });
    assert.equal(status, 200);
    const { entitlement, entitlement_expires_at: end } = readBody(body);
    assert.equal(end, fromStart(90 * DAY_MS));
    const { claims } = await verifyEntitlement(service, String(entitlement), TEST_START);
    assert.equal(claims['sub'], license.id);
  });
});

describe('401', () => {
  test('without a session, and with one that has ended', async () => {
    const { get, path } = await open();
    service.clock.advance(30 * MINUTE_MS);
    const expected = [401, problem('buyer_session_invalid')];
    for (const answer of [
      await get('/licenses'),
      await get(`${path}/machines`),
      await service.get(`${BASE}/licenses`),
      await service.post(`${BASE}/keys`, {}),
      await service.get(`${BASE}/licenses`, { 'x-buyer-session': 'x' }),
    ]) {
      assert.deepEqual([answer.status, answer.body], expected);
    }
  });
});

describe('403', () => {
  test('a wrong code, with the number of further tries', async () => {
    const { request_token: token } = await requestCode('wrong@example.com');
    for (const left of [4, 3, 2, 1, 0, 0]) {
      const body = { request_token: token, code: 'ABC DEF' };
      const answer = await service.post(`${BASE}/sessions`, body);
      assert.deepEqual(
        [answer.status, answer.body],
        [403, problem('code_invalid', { tries_left: left })],
      );
    }
  });

  test('a product without airgap_days', async () => {
    const { path, post } = await open();
    const request = createRequest({ product: 'personal' });
    const { status, body } = await post(`${path}/activate-airgapped`, { request });
    assert.deepEqual([status, body], [403, problem('airgap_not_offered')]);
  });
});

describe('404', () => {
  test('the license of somebody else, and a machine of another license', async () => {
    const [own, other] = [await open(), await open()];
    const { activation_id: id } = await activate(service, other.licenseKey);
    const expected = [404, problem('license_not_found')];
    for (const answer of [
      await own.get(`${other.path}/machines`),
      await own.post(`${other.path}/machines/${id}/free`),
      await own.post(`${other.path}/activate-airgapped`, { request: createRequest() }),
    ]) {
      assert.deepEqual([answer.status, answer.body], expected);
    }
    const machine = await own.post(`${own.path}/machines/${id}/free`);
    assert.deepEqual([machine.status, machine.body], [404, problem('activation_not_found')]);
  });
});

describe('409', () => {
  test('a machine without a connection is not freed before its entitlement ends', async () => {
    const { get, path, post } = await open(AIRGAP_PRODUCT);
    await post(`${path}/activate-airgapped`, { request: createRequest() });
    const [machine] = readItems((await get(`${path}/machines`)).body);
    assert.equal(machine?.['airgapped_until'], fromStart(90 * DAY_MS));
    const refused = await post(`${path}/machines/${String(machine['activation_id'])}/free`);
    const until = fromStart(90 * DAY_MS);
    assert.deepEqual(
      [refused.status, refused.body],
      [409, problem('machine_airgapped', { until })],
    );
  });

  test('one machine more than the limit of freed ones', async () => {
    const { path, post, licenseKey } = await open();
    const machine = anyMachine();
    const free = async () => {
      const { activation_id: id } = await activate(service, licenseKey, machine);
      return post(`${path}/machines/${id}/free`);
    };
    for (let count = 0; count < 5; count += 1) assert.equal((await free()).status, 200);
    const refused = await free();
    const members = { max: 5, days: 30, available_at: fromStart(30 * DAY_MS) };
    assert.deepEqual(
      [refused.status, refused.body],
      [409, problem('freeing_limit_reached', members)],
    );
  });
});

describe('422', () => {
  test('an invalid address, language, page and request', async () => {
    const { get, path, post } = await open(AIRGAP_PRODUCT);
    for (const [answer, place] of [
      [await service.post(`${BASE}/codes`, { email: 'x' }), 'body.email'],
      [
        await service.post(`${BASE}/codes`, { email: 'a@b.example', language: 'xx' }),
        'body.language',
      ],
      [await service.post(`${BASE}/sessions`, { code: 'x' }), 'body.request_token'],
      [await get(`${path}/machines?page=0`), 'query.page'],
      [await get('/licenses/x/machines'), 'path.license_id'],
      [await post(`${path}/activate-airgapped`, { request: 'x' }), 'body.request'],
    ] as const) {
      assert.deepEqual([answer.status, validationErrorsOf(answer.body)[0]?.[0]], [422, place]);
    }
  });
});

describe('429', () => {
  test('a code for an address after 20 within an hour', async () => {
    for (let count = 0; count < 20; count += 1) await requestCode('often@example.com');
    const answer = await service.post(`${BASE}/codes`, { email: 'often@example.com' });
    assert.deepEqual([answer.status, answer.headers.get('retry-after')], [429, '3600']);
  });

  test('a fourth e-mail with keys within an hour', async () => {
    const { post } = await open();
    const statuses: number[] = [];
    for (let count = 0; count < 4; count += 1) statuses.push((await post('/keys')).status);
    assert.deepEqual(statuses, [200, 200, 200, 429]);
  });
});

describe('503', () => {
  test('a code without a mail relay, for a known and an unknown address', async () => {
    const withoutMail = await startTestService();
    await withoutMail.issue({ customerEmail: 'ada@example.com' });
    for (const email of ['ada@example.com', 'nobody@example.com']) {
      const answer = await withoutMail.post(`${BASE}/codes`, { email });
      assert.deepEqual([answer.status, answer.body], [503, problem('mail_not_configured')]);
      assert.equal(answer.headers.get('retry-after'), '60');
    }
    const { rows } = await withoutMail.pool.query('select from buyer_codes');
    assert.equal(rows.length, 0);
  });
});
