import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { verifyEntitlement } from '../entitlements.ts';
import { TEST_ISSUER, type LicenseFactsChange } from '../harness.ts';
import {
  activate,
  anyMachine,
  anyUnknownKey,
  deactivate,
  listMachines,
  MISTYPED_KEY,
  validate,
} from '../license-steps.ts';
import { DAY_MS, fromStart, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService, withLicense } from './acceptance-service.ts';
import { describeBodyRefusals, describeGuessing } from './common-refusals.ts';
import { validationErrorsOf, problem, readBody } from './bodies.ts';

const PATH = '/api/v1/licenses/activate';

const service = await openAcceptanceService();

function ask(licenseKey: string, fingerprint: unknown, headers: Record<string, string> = {}) {
  const body = { license_key: licenseKey, machine_fingerprint: fingerprint };
  return service.post(PATH, body, headers);
}

/** Activates a license with these facts; returns the status and the code of the response. */
async function activateWith(facts: LicenseFactsChange) {
  const { licenseKey } = await service.own.issue({ facts });
  return ask(licenseKey, anyMachine());
}

describe('200', () => {
  test('a new machine gets an activation, its features and a token', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const answer = await ask(licenseKey, anyMachine());
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
    const { activation_id: id, entitlement, ...rest } = readBody(answer.body);
    assert.match(
      String(id),
      /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    assert.match(String(entitlement), /^[\w-]+\.[\w-]+\.[\w-]{86}$/);
    assert.deepEqual(rest, {
      expires_at: null,
      features: ['history', 'gpu'],
      tier: 'personal',
      status: 'active',
    });
  });

  test(
    'the token has exactly these claims, and the published keys verify it',
    inProcess,
    async () => {
      const { licenseKey, license } = await service.own.issue();
      const answer = await activate(service, licenseKey, { machine_id: 'the machine' });
      const { header, claims } = await verifyEntitlement(service, answer.entitlement, TEST_START);
      const { kid, ...named } = header;
      assert.deepEqual(named, { alg: 'EdDSA', typ: 'entitlement+jwt' });
      assert.match(String(kid), /^[\w-]{43}$/);
      const { jti, ...stated } = claims;
      assert.match(String(jti), /^[\w-]{22}$/);
      const issuedAt = TEST_START.getTime() / 1000;
      assert.deepEqual(stated, {
        iss: TEST_ISSUER,
        aud: 'personal',
        sub: license.id,
        iat: issuedAt,
        nbf: issuedAt,
        exp: issuedAt + 14 * 86_400,
        activation_id: answer.activation_id,
        machine: createHash('sha256').update('the machine').digest('base64url'),
        tier: 'personal',
        features: ['history', 'gpu'],
        status: 'active',
        license_expires_at: null,
        trial: false,
      });
    },
  );

  test('a fixed term ends the token, and is reported', inProcess, async () => {
    const expiresAt = new Date(TEST_START.getTime() + 3 * DAY_MS);
    const { licenseKey } = await service.own.issue({ productId: 'yearly', expiresAt });
    const { activation_id: _, entitlement, ...answer } = await activate(service, licenseKey);
    assert.deepEqual(answer, {
      expires_at: fromStart(3 * DAY_MS),
      features: ['history'],
      tier: 'pro',
      status: 'active',
    });
    const { claims } = await verifyEntitlement(service, entitlement, TEST_START);
    assert.equal(claims['exp'], expiresAt.getTime() / 1000);
    assert.equal(claims['license_expires_at'], expiresAt.getTime() / 1000);
  });

  test('the product’s term starts when the license is created', inProcess, async () => {
    const { licenseKey } = await service.own.issue({ productId: 'yearly' });
    const answer = await activate(service, licenseKey);
    assert.equal(answer.expires_at, '2028-02-29T12:00:00.000Z');
  });

  test('a key is read in any case, with blanks and hyphens anywhere', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const machine = anyMachine();
    const { activation_id: id } = await activate(service, licenseKey, machine);
    const spellings = [
      licenseKey.toLowerCase(),
      ` ${licenseKey} `,
      licenseKey.replaceAll('-', ''),
      licenseKey.replaceAll('-', ' '),
      licenseKey.replaceAll('0', 'O').replaceAll('1', 'l'),
      licenseKey.slice(3).replaceAll('1', 'I'),
    ];
    for (const spelling of spellings) {
      assert.equal((await activate(service, spelling, machine)).activation_id, id, spelling);
    }
  });

  test('an imported key of another format is looked up verbatim', inProcess, async () => {
    const licenseKey = `Old Vendor/${randomUUID()}`;
    await service.own.issue({ licenseKey });
    assert.equal((await ask(licenseKey, anyMachine())).status, 200);
    assert.equal((await ask(` ${licenseKey}\n`, anyMachine())).status, 200);
    assert.equal((await ask(licenseKey.toUpperCase(), anyMachine())).status, 404);
  });

  test('past_due lasts 14 days to the millisecond', inProcess, async () => {
    const { licenseKey } = await service.own.issue({
      expiresAt: TEST_START,
      facts: { subscription: true },
    });
    const answer = await activate(service, licenseKey);
    assert.deepEqual([answer.status, answer.expires_at], ['past_due', fromStart(0)]);
    const { claims } = await verifyEntitlement(service, answer.entitlement, TEST_START);
    assert.equal(claims['status'], 'past_due');
    assert.equal(claims['exp'], TEST_START.getTime() / 1000 + 14 * 86_400);
    service.own.clock.set(new Date(TEST_START.getTime() + 14 * DAY_MS - 1));
    assert.equal((await activate(service, licenseKey)).status, 'past_due');
    service.own.clock.advance(1);
    assert.equal((await ask(licenseKey, anyMachine())).status, 403);
  });

  test(
    'an install_id is stored in any case of its letters, and null does not erase it',
    inProcess,
    async () => {
      const { licenseKey, license } = await service.own.issue();
      const machine = anyMachine();
      const installId = randomUUID();
      for (const install of [installId.toUpperCase(), null]) {
        const body = {
          license_key: licenseKey,
          machine_fingerprint: machine,
          install_id: install,
          not_known: 'is ignored',
        };
        assert.equal((await service.post(PATH, body)).status, 200);
      }
      const { rows } = await service.own.pool.query(
        'select install_id from activations where license_id = $1',
        [license.id],
      );
      assert.deepEqual(rows, [{ install_id: installId }]);
    },
  );

  test('a feature added to the catalogue applies to earlier licenses', inProcess, async () => {
    const { own } = service;
    const { licenseKey } = await own.issue({ productId: 'yearly' });
    const before = own.context.catalog();
    const yearly = before.products.get('yearly');
    assert.ok(yearly);
    const machine = anyMachine();
    const old = await activate(service, licenseKey, machine);
    try {
      const products = new Map(before.products);
      products.set('yearly', { ...yearly, features: ['history', 'fleet'] });
      own.useCatalog({ ...before, products });
      const renewed = await activate(service, licenseKey, machine);
      assert.deepEqual(renewed.features, ['history', 'fleet']);
      assert.notEqual(renewed.entitlement, old.entitlement);
      products.delete('yearly');
      const sold = await activate(service, licenseKey, machine);
      assert.deepEqual([sold.features, sold.tier], [['history'], 'pro']);
    } finally {
      own.useCatalog(before);
    }
  });

  test('an invalid request id is replaced, a valid one is kept', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const kept = await ask(licenseKey, anyMachine(), { 'x-request-id': 'a.B_c-9' });
    assert.equal(kept.headers.get('x-request-id'), 'a.B_c-9');
    const replaced = await ask(licenseKey, anyMachine(), { 'x-request-id': 'a b' });
    assert.match(replaced.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/);
  });
});

describe('403', () => {
  const cases = [
    ['license_expired', { expires_at: TEST_START }],
    ['license_paused', { paused_at: TEST_START }],
    ['license_canceled', { canceled_at: TEST_START }],
    ['license_refunded', { refunded_at: TEST_START }],
    ['license_suspended', { suspended_at: TEST_START }],
    ['license_revoked', { revoked_at: TEST_START }],
  ] as const;

  for (const [code, facts] of cases) {
    test(`${code}: no activation, and no row`, inProcess, async () => {
      const before = await service.own.count('activations');
      const answer = await activateWith(facts);
      assert.deepEqual([answer.status, answer.body], [403, problem(code)]);
      assert.equal(await service.own.count('activations'), before);
    });
  }

  test('a fixed term ends at its second', inProcess, async () => {
    const { licenseKey } = await service.own.issue({
      expiresAt: new Date(TEST_START.getTime() + SECOND_MS),
    });
    assert.equal((await activate(service, licenseKey)).status, 'active');
    service.own.clock.advance(SECOND_MS);
    assert.equal((await ask(licenseKey, anyMachine())).status, 403);
    service.own.clock.advance(SECOND_MS);
    assert.equal((await ask(licenseKey, anyMachine())).status, 403);
  });

  test('an active machine is refused too', inProcess, async () => {
    const { licenseKey, license } = await service.own.issue();
    const machine = anyMachine();
    await activate(service, licenseKey, machine);
    await service.own.setFacts(license.id, { suspended_at: TEST_START });
    assert.equal((await ask(licenseKey, machine)).status, 403);
  });

  test('the status with the highest precedence is reported', inProcess, async () => {
    const answer = await activateWith({
      expires_at: TEST_START,
      suspended_at: TEST_START,
      refunded_at: TEST_START,
    });
    assert.deepEqual(answer.body, problem('license_refunded'));
  });
});

describe('404', () => {
  test('license_not_found: an unknown key of any format', async () => {
    for (const key of [anyUnknownKey(), MISTYPED_KEY, 'ABC-123', '', ' ', 'x'.repeat(600), '🔑']) {
      const answer = await ask(key, anyMachine());
      assert.deepEqual([answer.status, answer.body], [404, problem('license_not_found')], key);
    }
  });

  test('a mistyped key is refused without a query', inProcess, async () => {
    const { lookups } = service.own.context.batches;
    const submit = lookups.submit.bind(lookups);
    let asked = 0;
    lookups.submit = (lookup) => {
      asked++;
      return submit(lookup);
    };
    try {
      await ask(MISTYPED_KEY, anyMachine());
      assert.equal(asked, 0);
      await ask(anyUnknownKey(), anyMachine());
      assert.equal(asked, 1);
    } finally {
      lookups.submit = submit;
    }
  });
});

describe('409', () => {
  test(
    'rejects a third activation on a two-machine license until one is deactivated',
    withLicense,
    async () => {
      const licenseKey = await service.issueKey();
      const [first, third] = [anyMachine(), anyMachine()];
      const { activation_id: id } = await activate(service, licenseKey, first);
      await activate(service, licenseKey);
      const answer = await ask(licenseKey, third);
      assert.equal(answer.status, 409);
      assert.deepEqual(
        answer.body,
        problem('activation_limit_reached', {
          detail: 'The license is active on 2 of 2 machines. Deactivate one of them first.',
          max: 2,
          current: 2,
        }),
      );
      assert.equal((await listMachines(service, licenseKey)).length, 2);
      await deactivate(service, licenseKey, id, first.machine_id);
      assert.equal((await ask(licenseKey, third)).status, 200);
      assert.equal((await ask(licenseKey, first)).status, 409);
    },
  );

  test('a lowered limit keeps active machines', inProcess, async () => {
    const { licenseKey, license } = await service.own.issue();
    const machine = anyMachine();
    const { activation_id: id } = await activate(service, licenseKey, machine);
    await activate(service, licenseKey);
    await service.own.pool.query('update licenses set max_activations = 1 where id = $1', [
      license.id,
    ]);
    assert.equal((await activate(service, licenseKey, machine)).activation_id, id);
    assert.equal((await validate(service, licenseKey, id, machine.machine_id)).valid, true);
    const refused = await ask(licenseKey, anyMachine());
    assert.equal(refused.status, 409);
    assert.match(refused.text, /"max":1,"current":2/);
  });
});

/** Returns a fingerprint of that depth. */
describe('422', () => {
  test('reports all problems at once, in the order of the schema', async () => {
    const answer = await service.post(PATH, {
      install_id: 'urn:uuid:8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11',
      machine_fingerprint: [],
      license_key: 5,
    });
    assert.equal(answer.status, 422);
    assert.deepEqual(validationErrorsOf(answer.body), [
      ['body.license_key', 'string_type'],
      ['body.machine_fingerprint', 'dict_type'],
      ['body.install_id', 'uuid_parsing'],
    ]);
  });
});

describeBodyRefusals(service, PATH, ['license_key', 'machine_fingerprint']);

describeGuessing(
  service,
  (licenseKey, address) => ask(licenseKey, anyMachine(), { 'x-forwarded-for': address }),
  (answer) => assert.equal(answer.status, 404),
);
