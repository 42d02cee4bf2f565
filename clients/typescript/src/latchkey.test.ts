/** What a program sees of a client, with a scripted service. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  activated,
  KEY,
  openActivated,
  openClient,
  trialStarted,
  validated,
} from '../test/open-client.ts';
import { json, page, problem, connectionRefused } from '../test/scripted-service.ts';
import { createSigner, DAY_MS, MACHINE_ID, NOW_MS, signToken } from '../test/signer.ts';
import { Latchkey, memoryStore, type LicenseState } from './index.ts';

const ID = '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d';

function shown({ kind, mayRun, reason, source }: LicenseState): unknown[] {
  return [kind, mayRun, reason, source];
}

function fail(): never {
  throw new Error('EROFS: read-only file system');
}

describe('open', () => {
  test('lists all wrong options, and asks nothing', async () => {
    const wrong = Latchkey.open({
      service: 'license.example.com',
      issuer: '',
      products: [],
      publicKeys: [{ kty: 'RSA', crv: '', x: '', kid: 'x' }],
      appVersion: '1.0.0',
      timeoutMs: 0,
    });
    await assert.rejects(wrong, (error: unknown) => {
      assert.ok(error instanceof TypeError);
      const names = ['service', 'issuer', 'products', 'publicKeys', 'timeoutMs'];
      for (const name of names) assert.match(error.message, new RegExp(`\\b${name} must`));
      return true;
    });
  });

  test('starts without a license, and asks nothing', async () => {
    const { client, service } = await openClient();
    assert.deepEqual(shown(client.state), ['none', false, 'not_activated', 'kept']);
    assert.deepEqual(service.requests, []);
  });

  test('sets a damaged state aside, and goes on', async () => {
    const store = memoryStore();
    await store.write('{"version":');
    const { client, problems } = await openClient({ store });
    assert.equal(client.state.reason, 'not_activated');
    assert.deepEqual(
      problems.map(({ code }) => code),
      ['file_damaged'],
    );
  });

  test('goes on with a store that fails', async () => {
    const opened = await openActivated({ store: { read: fail, write: fail, setAside: fail } });
    assert.equal(opened.client.state.mayRun, true);
    const codes = new Set(opened.problems.map(({ code }) => code));
    assert.deepEqual([...codes], ['folder_unreadable', 'folder_unwritable']);
  });
});

describe('activate', () => {
  test('sends key and machine, and lets the program run, also after a restart without a network', async () => {
    const { client, service, reopen } = await openClient({ osVersion: '15.1' });
    service.answer(() => activated());
    assert.deepEqual(await client.activate(` ${KEY.toLowerCase()} `), { ok: true });
    assert.deepEqual(service.requests, [
      {
        method: 'POST',
        path: '/api/v1/licenses/activate',
        body: {
          license_key: KEY,
          machine_fingerprint: { machine_id: MACHINE_ID, app_version: '2.4.0', os_version: '15.1' },
        },
      },
    ]);
    assert.deepEqual(shown(client.state), ['licensed', true, null, 'service']);
    assert.deepEqual([client.has('gpu'), client.has('fleet')], [true, false]);
    const again = await reopen();
    assert.deepEqual(shown(again.state), ['licensed', true, null, 'kept']);
  });

  test('refuses a mistyped key without a request', async () => {
    const { client, service } = await openClient();
    const result = await client.activate(KEY.replace('7Q', 'Q7'));
    assert.deepEqual(result, { ok: false, code: 'key_mistyped' });
    assert.deepEqual(service.requests, []);
  });

  test('returns the refusal of the service, and changes no state', async () => {
    const { client, service } = await openActivated();
    service.answer(() => problem(404, 'license_not_found'));
    assert.deepEqual(await client.activate('other'), { ok: false, code: 'license_not_found' });
    assert.equal(client.state.kind, 'licensed');
  });

  test('an answer with a forged entitlement is none', async () => {
    const { client, service } = await openClient();
    const entitlement = signToken({}, { signer: createSigner() });
    service.answer(({ path }) =>
      path.endsWith('jwks.json') ? page() : json({ activation_id: ID, entitlement }),
    );
    const result = await client.activate(KEY);
    assert.deepEqual(result, { ok: false, code: 'no_answer', cause: 'portal', retryAfterMs: 0 });
    assert.deepEqual(shown(client.state), ['none', false, 'not_activated', 'kept']);
  });

  test('fetches the keys of the service once if it signs with a new one, and keeps them', async () => {
    const rotated = createSigner();
    const { client, service, reopen } = await openClient();
    service.answer(({ path }) =>
      path.endsWith('jwks.json')
        ? json({ keys: [rotated.publicKey] })
        : json({ activation_id: ID, entitlement: signToken({}, { signer: rotated }) }),
    );
    assert.equal((await client.activate(KEY)).ok, true);
    const again = await reopen({ fetch: () => Promise.reject(connectionRefused()) });
    assert.equal(again.state.mayRun, true);
    assert.equal(service.requests.length, 2);
  });

  test('trusts no keys that came without encryption', async () => {
    const rotated = createSigner();
    const { client, service } = await openClient({ service: 'http://license.example.com' });
    service.answer(() =>
      json({ activation_id: ID, entitlement: signToken({}, { signer: rotated }) }),
    );
    assert.equal((await client.activate(KEY)).ok, false);
    assert.deepEqual(
      service.requests.map(({ path }) => path),
      ['/api/v1/licenses/activate'],
    );
  });

  test('corrects the clock of a device that is a year ahead before it verifies', async () => {
    const { client, service, clock } = await openClient();
    clock.ms = NOW_MS + 365 * DAY_MS;
    service.answer(() => json({ activation_id: ID, entitlement: signToken() }, 200, NOW_MS));
    assert.equal((await client.activate(KEY)).ok, true);
    assert.deepEqual([client.state.mayRun, client.state.daysLeft], [true, 14]);
    clock.ms = NOW_MS + DAY_MS;
    assert.deepEqual([client.state.mayRun, client.state.daysLeft], [true, 14]);
  });
});

describe('check', () => {
  test('asks nothing without a license', async () => {
    const { client, service } = await openClient();
    assert.deepEqual(await client.check(), { ok: false, code: 'not_activated' });
    assert.deepEqual(service.requests, []);
  });

  test('sends the trigger, and keeps the new entitlement', async () => {
    const { client, service } = await openActivated();
    service.answer(() => validated({ tier: 'sellers', features: ['fleet'] }));
    assert.deepEqual(await client.check('wake'), { ok: true });
    assert.deepEqual(service.requests[0]?.body, {
      license_key: KEY,
      activation_id: ID,
      machine_id: MACHINE_ID,
      trigger: 'wake',
    });
    assert.deepEqual(
      [client.state.tier, client.has('fleet'), client.has('gpu')],
      ['sellers', true, false],
    );
  });

  test('a refusal counts until the service or an activation lifts it', async () => {
    const { client, service, reopen } = await openActivated();
    service.answer(() => json({ valid: false, status: 'revoked', reason: 'license_revoked' }));
    assert.deepEqual(await client.check(), { ok: false, code: 'license_revoked' });
    const again = await reopen();
    assert.deepEqual(shown(again.state), ['refused', false, 'license_revoked', 'kept']);
    service.answer(() => validated());
    await again.check();
    assert.deepEqual(shown(again.state), ['licensed', true, null, 'service']);
    service.answer(() => problem(403, 'machine_mismatch'));
    await again.check();
    assert.equal(again.state.reason, 'machine_mismatch');
    service.answer(() => activated());
    await again.activate(KEY);
    assert.equal(again.state.kind, 'licensed');
  });

  test('what is no answer changes nothing but the source', async () => {
    const { client, service } = await openActivated();
    const before = client.state;
    const answers = [
      () => connectionRefused(),
      () => page(),
      () => page(403),
      () => json({ valid: 'no', reason: 'x' }),
      () => json({ valid: false }),
      () => json({ valid: true, entitlement: null }),
      () => json({ valid: true, entitlement: signToken({ machine: 'other' }) }),
      () => problem(429, 'rate_limited'),
      () => new Response(null, { status: 302, headers: { location: '/login' } }),
      () => new Response('x'.repeat(1_000_001)),
    ];
    for (const answer of answers) {
      service.answer(answer);
      const result = await client.check();
      assert.ok(!result.ok && result.code === 'no_answer');
      assert.deepEqual(client.state, { ...before, source: 'kept' });
    }
  });

  test('a refusal that is not about the license changes nothing', async () => {
    const { client, service } = await openActivated();
    for (const [status, code] of [
      [400, 'bad_request'],
      [403, 'cross_origin'],
      [404, 'not_found'],
    ] as const) {
      service.answer(() => problem(status, code));
      assert.deepEqual(await client.check(), { ok: false, code });
      assert.deepEqual(shown(client.state), ['licensed', true, null, 'service']);
    }
  });

  test('ends a request that hangs, even if fetch ignores its signal', async () => {
    const { client, service } = await openActivated({ timeoutMs: 20 });
    service.answer(() => new Promise(() => undefined));
    const result = await client.check();
    assert.deepEqual(result, { ok: false, code: 'no_answer', cause: 'timeout', retryAfterMs: 0 });
  });
});

describe('startTrial', () => {
  test('starts at once', async () => {
    const { client, service } = await openClient();
    service.answer(trialStarted);
    assert.deepEqual(await client.startTrial(), { ok: true });
    assert.deepEqual(shown(client.state), ['trial', true, null, 'service']);
  });

  test('waits for a network at the first launch, and is started by a later check', async () => {
    const { client, service, reopen } = await openClient();
    const result = await client.startTrial();
    assert.deepEqual(result, {
      ok: false,
      code: 'no_answer',
      cause: 'connection',
      retryAfterMs: 0,
    });
    assert.deepEqual(shown(client.state), ['none', false, 'not_activated', 'kept']);
    assert.match(await client.explain(), /^waiting: trial to be started$/m);
    const again = await reopen();
    service.answer(trialStarted);
    assert.deepEqual(await again.check('reconnect'), { ok: true });
    assert.equal(again.state.kind, 'trial');
    assert.doesNotMatch(await again.explain(), /^waiting/m);
  });

  test('is started by keepChecking a minute after a first launch without a network', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const { client, service, clock } = await openClient();
    client.keepChecking();
    await client.startTrial();
    service.answer(trialStarted);
    const changed = new Promise<LicenseState>((resolve) => client.onChange(resolve));
    clock.ms += 70_000;
    t.mock.timers.tick(60_000);
    assert.equal((await changed).kind, 'trial');
    await client.close();
  });

  test('wants no trial any more that the service refused', async () => {
    const { client, service } = await openClient();
    await client.startTrial();
    service.answer(() => problem(403, 'license_expired'));
    assert.deepEqual(await client.check(), { ok: false, code: 'license_expired' });
    assert.deepEqual(await client.check(), { ok: false, code: 'not_activated' });
  });

  test('is refused for a machine whose trial ended', async () => {
    const { client, service } = await openClient();
    const ended = { license_key: 'LK-TRIAL', activation_id: ID, entitlement: null };
    service.answer(() => json({ ...ended, status: 'expired' }));
    assert.deepEqual(await client.startTrial(), { ok: false, code: 'trial_expired' });
    service.answer(() => json({ ...ended, status: 'revoked' }));
    assert.deepEqual(await client.startTrial(), { ok: false, code: 'trial_unavailable' });
    assert.equal(client.state.reason, 'not_activated');
  });

  test('takes no license away', async () => {
    const { client, service } = await openActivated();
    assert.deepEqual(await client.startTrial(), { ok: false, code: 'already_licensed' });
    assert.deepEqual(service.requests, []);
  });
});

describe('onChange', () => {
  test('calls after what changed the state, not during open, and survives a listener that throws', async () => {
    const { client, service, problems } = await openClient();
    const seen: string[] = [];
    client.onChange(() => {
      throw new Error('of the program');
    });
    const stop = client.onChange(({ kind }) => seen.push(kind));
    await client.check();
    assert.deepEqual(seen, []);
    service.answer(() => activated());
    await client.activate(KEY);
    stop();
    service.answer(() => json({ valid: false, reason: 'license_revoked' }));
    await client.check();
    assert.deepEqual(seen, ['licensed']);
    assert.deepEqual([...new Set(problems.map(({ code }) => code))], ['listener']);
  });
});

test('runs calls one after the other', async () => {
  const { client, service } = await openActivated();
  let running = 0;
  let most = 0;
  service.answer(async () => {
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    return validated();
  });
  await Promise.all([client.check(), client.check(), client.machines(), client.activate(KEY)]);
  await client.close();
  assert.equal(most, 1);
});

test('explains without key, token and machine id', async () => {
  const { client, service } = await openActivated();
  service.answer(() => connectionRefused());
  await client.check();
  const text = await client.explain();
  assert.match(text, /^state: licensed$/m);
  assert.match(text, /^key: …5WV94$/m);
  assert.match(text, /^last request: connection: TypeError fetch failed; Error ECONNREFUSED/m);
  assert.match(text, /^machine: [\w-]{8} \(SHA-256\)$/m);
  for (const secret of [KEY, KEY.slice(0, 20), MACHINE_ID, 'eyJ'])
    assert.ok(!text.includes(secret));
});

test('explains on a page without cryptography', async () => {
  const cryptography = { sha256: fail, verify: fail };
  const { client } = await openClient({ cryptography });
  assert.match(await client.explain(), /^state: none, not_activated$/m);
});
