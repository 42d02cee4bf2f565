import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { extendLicense, LicenseChangeError } from '#server/features/licenses/change-license.ts';

import { verifyEntitlement } from '../entitlements.ts';
import { TEST_ISSUER } from '../harness.ts';
import {
  activate,
  anyMachine,
  deactivate,
  listMachines,
  startTrial,
  validate,
} from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { validationErrorsOf, fingerprintError, problem, readBody } from './bodies.ts';
import { describeBodyRefusals } from './common-refusals.ts';

const PATH = '/api/v1/trial/start';

const service = await openAcceptanceService();

const TABLES = ['licenses', 'license_keys', 'activations'];

function countRows(): Promise<number[]> {
  return Promise.all(TABLES.map((table) => service.own.count(table)));
}

/** Returns unique components of a machine. */
function anyParts() {
  const id = randomUUID();
  return { board_serial: `board ${id}`, disk_serial: `disk ${id}`, bios_serial: `bios ${id}` };
}

describe('200', () => {
  test('a new machine gets a key, an activation and a token', async () => {
    const answer = await service.post(PATH, { machine_fingerprint: anyMachine() });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { license_key: key, activation_id: id, expires_at: end, ...rest } = readBody(answer.body);
    assert.match(String(key), /^LK(-[0-9A-HJKMNP-TV-Z]{5}){5}$/);
    assert.match(String(id), /^[0-9a-f-]{36}$/);
    assert.match(String(end), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { entitlement, ...plain } = rest;
    assert.match(String(entitlement), /^[\w-]+\.[\w-]+\.[\w-]{86}$/);
    assert.deepEqual(plain, { features: ['history'], status: 'active', tier: 'trial' });
  });

  test('lasts 7 days, and is stored as one license for one machine', inProcess, async () => {
    const before = await countRows();
    const trial = await startTrial(service, anyMachine());
    assert.equal(trial.expires_at, fromStart(7 * DAY_MS));
    assert.deepEqual(
      (await countRows()).map((count, index) => count - (before[index] ?? 0)),
      [1, 1, 1],
    );
    const { rows } = await service.own.pool.query(
      `select l.trial, l.tier, l.product_id, l.max_activations, l.created_at, l.expires_at
       from licenses l join activations a on a.license_id = l.id where a.id = $1`,
      [trial.activation_id],
    );
    assert.deepEqual(rows, [
      {
        trial: true,
        tier: 'trial',
        product_id: 'personal',
        max_activations: 1,
        created_at: TEST_START,
        expires_at: new Date(TEST_START.getTime() + 7 * DAY_MS),
      },
    ]);
  });

  test('the token is marked as a trial, and expires with it', inProcess, async () => {
    const machine = anyMachine();
    const trial = await startTrial(service, machine);
    const { claims } = await verifyEntitlement(service, trial.entitlement, TEST_START);
    const issuedAt = TEST_START.getTime() / 1000;
    const { jti, sub, ...stated } = claims;
    assert.match(String(jti), /^[\w-]{22}$/);
    assert.match(String(sub), /^[0-9a-f-]{36}$/);
    assert.deepEqual(stated, {
      iss: TEST_ISSUER,
      aud: 'personal',
      iat: issuedAt,
      nbf: issuedAt,
      exp: issuedAt + 7 * 86_400,
      activation_id: trial.activation_id,
      machine: createHash('sha256').update(machine.machine_id).digest('base64url'),
      tier: 'trial',
      features: ['history'],
      status: 'active',
      license_expires_at: issuedAt + 7 * 86_400,
      trial: true,
    });
  });

  test('a repeated request returns exactly the same trial', async () => {
    const machine = anyMachine();
    const first = await startTrial(service, machine);
    for (let again = 0; again < 3; again++) {
      assert.deepEqual(await startTrial(service, machine), first);
    }
  });

  test('an hour later a new token is signed, once', inProcess, async () => {
    const machine = anyMachine();
    const { entitlement: first } = await startTrial(service, machine);
    service.own.clock.advance(HOUR_MS);
    const { entitlement: second } = await startTrial(service, machine);
    assert.notEqual(second, first);
    service.own.clock.advance(HOUR_MS - SECOND_MS);
    assert.equal((await startTrial(service, machine)).entitlement, second);
    service.own.clock.advance(SECOND_MS);
    assert.notEqual((await startTrial(service, machine)).entitlement, second);
  });

  test('a later request does not extend it', inProcess, async () => {
    const machine = anyMachine();
    const first = await startTrial(service, machine);
    const before = await countRows();
    service.own.clock.advance(3 * DAY_MS);
    const { entitlement: _, ...again } = await startTrial(service, machine);
    const { entitlement: __, ...original } = first;
    assert.deepEqual(again, original);
    assert.deepEqual(await countRows(), before);
  });

  test('an expired trial is returned with its end, to the second', inProcess, async () => {
    const machine = anyMachine();
    const first = await startTrial(service, machine);
    const ask = async (offsetMs: number) => {
      service.own.clock.set(new Date(TEST_START.getTime() + offsetMs));
      return startTrial(service, machine);
    };
    assert.equal((await ask(7 * DAY_MS - SECOND_MS)).status, 'active');
    const over = { ...first, status: 'expired', entitlement: null };
    assert.deepEqual(await ask(7 * DAY_MS), over);
    assert.deepEqual(await ask(7 * DAY_MS + SECOND_MS), over);
    assert.deepEqual(await ask(4000 * DAY_MS), over);
  });

  const shared: [string, Record<string, unknown>, Record<string, unknown>][] = [
    [
      'a strong component',
      { machine_id: 'm', hardware_uuid: 'h' },
      { platform_uuid: 'p', hardwareUuid: 'H' },
    ],
    ['two medium components of many', anyParts(), {}],
    [
      'two network addresses',
      { macs: ['00:1b:44:11:3a:b7', '00:1b:44:11:3a:b8'] },
      { macAddress: '00-1B-44-11-3A-B8,00-1B-44-11-3A-B7' },
    ],
  ];
  for (const [what, one, other] of shared) {
    test(`a machine that shares ${what} with an earlier one gets its grant`, async () => {
      const id = randomUUID();
      const mark = (parts: Record<string, unknown>) =>
        Object.fromEntries(
          Object.entries(parts).map(([key, part]) => [
            key,
            key.startsWith('mac') && key !== 'machine_id' ? part : `${String(part)} ${id}`,
          ]),
        );
      const first = await startTrial(service, mark(one));
      const relative =
        Object.keys(other).length > 0
          ? mark(other)
          : { ...mark(one), bios_serial: randomUUID(), gpu: 'new', wifi: 'new', screen: 'new' };
      const second = await startTrial(service, relative);
      assert.equal(second.license_key, first.license_key);
      assert.equal(second.expires_at, first.expires_at);
    });
  }

  test('one shared medium component does not share a trial', async () => {
    const parts = anyParts();
    const first = await startTrial(service, parts);
    const second = await startTrial(service, { ...anyParts(), board_serial: parts.board_serial });
    assert.notEqual(second.license_key, first.license_key);
  });

  test('a machine built from parts of two others gets the older trial', inProcess, async () => {
    const [one, other] = [anyMachine(), anyMachine()];
    const older = await startTrial(service, one);
    service.own.clock.advance(HOUR_MS);
    await startTrial(service, { device_id: other.machine_id });
    const both = { machine_id: one.machine_id, device_id: other.machine_id };
    assert.equal((await startTrial(service, both)).license_key, older.license_key);
  });

  test('a machine without usable components is identified by its whole fingerprint', async () => {
    const whole = { hostname: `host ${randomUUID()}`, board_serial: 'To Be Filled By O.E.M.' };
    const first = await startTrial(service, whole);
    assert.equal((await startTrial(service, whole)).license_key, first.license_key);
    const other = await startTrial(service, { ...whole, hostname: randomUUID() });
    assert.notEqual(other.license_key, first.license_key);
  });

  test('a deactivated machine is activated again', async () => {
    const machine = anyMachine();
    const first = await startTrial(service, machine);
    await deactivate(service, first.license_key, first.activation_id, machine.machine_id);
    const second = await startTrial(service, machine);
    assert.equal(second.license_key, first.license_key);
    assert.notEqual(second.activation_id, first.activation_id);
    const { license_key: key, activation_id: id } = second;
    assert.equal((await validate(service, key, id, machine.machine_id)).valid, true);
  });

  test('a machine that only shares claims gets the trial, but neither an activation nor a token', async () => {
    const parts = anyParts();
    const holder = await startTrial(service, { ...parts, a: 1, b: 2, c: 3, d: 4 });
    const relative = await startTrial(service, {
      ...parts,
      bios_serial: 'new',
      a: 'new',
      b: 'new',
      c: 'new',
      d: 'new',
    });
    assert.deepEqual(relative, { ...holder, entitlement: null });
    assert.equal((await listMachines(service, holder.license_key)).length, 1);
  });

  test('its key activates and lists like any other, for one machine', async () => {
    const machine = anyMachine();
    const trial = await startTrial(service, machine);
    const again = await activate(service, trial.license_key, machine);
    assert.equal(again.activation_id, trial.activation_id);
    assert.equal(again.tier, 'trial');
    const refused = await service.post('/api/v1/licenses/activate', {
      license_key: trial.license_key,
      machine_fingerprint: anyMachine(),
    });
    assert.equal(refused.status, 409);
    const [listed, ...others] = await listMachines(service, trial.license_key);
    assert.deepEqual([listed?.machine_id, others], [machine.machine_id, []]);
  });

  test('a revoked trial is returned as revoked, without a token', inProcess, async () => {
    const machine = anyMachine();
    const trial = await startTrial(service, machine);
    await service.own.pool.query(
      `update licenses set revoked_at = $2
       where id = (select license_id from activations where id = $1)`,
      [trial.activation_id, TEST_START],
    );
    const again = await startTrial(service, machine);
    assert.deepEqual(again, { ...trial, status: 'revoked', entitlement: null });
  });

  test(
    'an operator can move its end, but not remove it, because the response requires one',
    inProcess,
    async () => {
      const machine = anyMachine();
      const { license_key: keyOrId } = await startTrial(service, machine);
      const change = { keyOrId, actor: 'test', reason: 'requested by a test' };
      await assert.rejects(
        extendLicense(service.own.context, change, { until: null }),
        LicenseChangeError,
      );
      const until = fromStart(30 * DAY_MS);
      await extendLicense(service.own.context, change, { until: new Date(until) });
      assert.equal((await startTrial(service, machine)).expires_at, until);
    },
  );

  test('install_id is stored', inProcess, async () => {
    const installId = randomUUID();
    const answer = await service.post(PATH, {
      machine_fingerprint: anyMachine(),
      install_id: installId,
    });
    const { rows } = await service.own.pool.query(
      'select install_id from activations where id = $1',
      [readBody(answer.body)['activation_id']],
    );
    assert.deepEqual(rows, [{ install_id: installId }]);
  });
});

describe('422', () => {
  test('the limits of fingerprints apply to trials, and nothing is stored', inProcess, async () => {
    const before = await countRows();
    const wide = Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, 1]));
    const refused: [unknown, string][] = [
      [{}, 'must not be empty'],
      [wide, 'must not have more than 32 keys'],
      [{ a: [[[1]]] }, 'must not nest deeper than 3 levels'],
      [{ a: 'x'.repeat(8185) }, 'must not be longer than 8192 bytes of JSON'],
    ];
    for (const [fingerprint, what] of refused) {
      const answer = await service.post(PATH, { machine_fingerprint: fingerprint });
      assert.deepEqual([answer.status, answer.body], [422, fingerprintError(what)]);
    }
    assert.deepEqual(await countRows(), before);
  });

  test('reports all problems at once, in the order of the schema', async () => {
    const answer = await service.post(PATH, { install_id: 7, machine_fingerprint: 'text' });
    assert.equal(answer.status, 422);
    assert.deepEqual(
      validationErrorsOf(answer.body).map(([place]) => place),
      ['body.machine_fingerprint', 'body.install_id'],
    );
  });
});

describe('429', () => {
  test('one address may start many trials', async () => {
    for (let machine = 0; machine < 20; machine++) {
      const body = { machine_fingerprint: anyMachine() };
      const answer = await service.post(PATH, body, { 'x-forwarded-for': '198.18.0.1' });
      assert.equal(answer.status, 200);
    }
  });
});

describe('404', () => {
  test('a similar path', async () => {
    const answer = await service.post('/api/v1/trials/start', {});
    assert.deepEqual([answer.status, answer.body], [404, problem('not_found')]);
  });
});

describeBodyRefusals(service, PATH, ['machine_fingerprint']);
