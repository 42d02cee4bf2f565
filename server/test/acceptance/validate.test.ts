import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { VALIDATION_TRIGGERS } from '@latchkey/contract';

import { verifyEntitlement } from '../entitlements.ts';
import type { LicenseFactsChange } from '../harness.ts';
import {
  activate,
  anyMachine,
  anyUnknownKey,
  deactivate,
  listMachines,
  MISTYPED_KEY,
  startTrial,
  validate,
} from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inside, openAcceptanceService, withLicense } from './acceptance-service.ts';
import { faultsOf, readBody } from './bodies.ts';
import { describeBodyRefusals, describeGuessing } from './common-refusals.ts';

const PATH = '/api/v1/licenses/validate';

const service = await openAcceptanceService();

/** A license with one machine on it. */
async function setUp(facts: LicenseFactsChange = {}) {
  const { licenseKey, license } = await service.own.issue();
  const machine = anyMachine();
  const { activation_id: activationId } = await activate(service, licenseKey, machine);
  if (Object.keys(facts).length > 0) await service.own.setFacts(license.id, facts);
  return { licenseKey, license, activationId, machineId: machine.machine_id };
}

async function readActivation(activationId: string) {
  const { rows } = await service.own.pool.query<Record<string, unknown>>(
    `select machine_id, validation_count, last_validated_at, install_id, usage_sharing
     from activations where id = $1`,
    [activationId],
  );
  return rows[0];
}

describe('200, valid', () => {
  test('an activation of a perpetual license', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const machine = anyMachine();
    const { activation_id: id } = await activate(service, licenseKey, machine);
    const answer = await service.post(PATH, {
      license_key: licenseKey,
      activation_id: id.toUpperCase(),
      machine_id: machine.machine_id,
      install_id: null,
      usage_sharing: null,
      trigger: null,
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    const { entitlement, ...rest } = readBody(answer.body);
    assert.match(String(entitlement), /^[\w-]+\.[\w-]+\.[\w-]{86}$/);
    assert.deepEqual(rest, {
      valid: true,
      expires_at: null,
      days_until_expiry: null,
      tier: 'personal',
      status: 'active',
      reason: null,
    });
  });

  test('every trigger is taken', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const { machine_id: machineId } = anyMachine();
    const { activation_id: id } = await activate(service, licenseKey, { machine_id: machineId });
    const body = { license_key: licenseKey, activation_id: id, machine_id: machineId };
    for (const trigger of VALIDATION_TRIGGERS) {
      const answer = await service.post(PATH, { ...body, trigger });
      assert.equal(readBody(answer.body)['valid'], true, trigger);
    }
    const [listed] = await listMachines(service, licenseKey);
    assert.equal(listed?.validation_count, VALIDATION_TRIGGERS.length);
  });

  test('the days left are rounded up, and a fixed term ends at its second', inside, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await setUp({
      expires_at: new Date(TEST_START.getTime() + 2 * DAY_MS),
    });
    const ask = async (moment: number) => {
      clock.set(new Date(TEST_START.getTime() + moment));
      const answer = await validate(service, licenseKey, activationId, machineId);
      return [answer.valid, answer.status, answer.reason, answer.days_until_expiry];
    };
    assert.deepEqual(await ask(0), [true, 'active', null, 2]);
    assert.deepEqual(await ask(1), [true, 'active', null, 2]);
    assert.deepEqual(await ask(DAY_MS), [true, 'active', null, 1]);
    assert.deepEqual(await ask(2 * DAY_MS - SECOND_MS), [true, 'active', null, 1]);
    assert.deepEqual(await ask(2 * DAY_MS), [false, 'expired', 'license_expired', 0]);
    assert.deepEqual(await ask(2 * DAY_MS + SECOND_MS), [false, 'expired', 'license_expired', 0]);
    assert.deepEqual(await ask(400 * DAY_MS), [false, 'expired', 'license_expired', 0]);
  });

  test('a subscription is past_due for 14 days after what was paid', inside, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await setUp({
      subscription: true,
      expires_at: TEST_START,
    });
    const ask = async (moment: number) => {
      clock.set(new Date(TEST_START.getTime() + moment));
      const answer = await validate(service, licenseKey, activationId, machineId);
      return [answer.valid, answer.status, answer.expires_at, answer.days_until_expiry];
    };
    const paid = fromStart(0);
    assert.deepEqual(await ask(-SECOND_MS), [true, 'active', paid, 1]);
    assert.deepEqual(await ask(0), [true, 'past_due', paid, 0]);
    assert.deepEqual(await ask(14 * DAY_MS - SECOND_MS), [true, 'past_due', paid, 0]);
    assert.deepEqual(await ask(14 * DAY_MS), [false, 'expired', paid, 0]);
    assert.deepEqual(await ask(14 * DAY_MS + SECOND_MS), [false, 'expired', paid, 0]);
  });

  test('an announced cancellation ends the grace', inside, async () => {
    const { licenseKey, activationId, machineId } = await setUp({
      subscription: true,
      expires_at: TEST_START,
      cancel_scheduled_for: TEST_START,
    });
    const answer = await validate(service, licenseKey, activationId, machineId);
    assert.deepEqual([answer.valid, answer.reason], [false, 'license_expired']);
  });

  test('a valid answer is counted and dated; the count begins at 0', inside, async () => {
    const { licenseKey, activationId, machineId } = await setUp();
    const before = await readActivation(activationId);
    assert.deepEqual(
      [before?.['validation_count'], before?.['last_validated_at']],
      [0, TEST_START],
    );
    service.own.clock.advance(HOUR_MS);
    for (let times = 0; times < 3; times++) {
      await validate(service, licenseKey, activationId, machineId);
    }
    const after = await readActivation(activationId);
    assert.equal(after?.['validation_count'], 3);
    assert.deepEqual(after?.['last_validated_at'], new Date(TEST_START.getTime() + HOUR_MS));
  });

  test('install and usage sharing are kept, and null erases neither', inside, async () => {
    const { licenseKey, activationId, machineId } = await setUp();
    const installId = randomUUID();
    const body = { license_key: licenseKey, activation_id: activationId, machine_id: machineId };
    await service.post(PATH, { ...body, install_id: installId, usage_sharing: false });
    await service.post(PATH, { ...body, install_id: null, usage_sharing: null });
    await service.post(PATH, body);
    const stored = await readActivation(activationId);
    assert.deepEqual([stored?.['install_id'], stored?.['usage_sharing']], [installId, false]);
    await service.post(PATH, { ...body, usage_sharing: true });
    assert.equal((await readActivation(activationId))?.['usage_sharing'], true);
  });

  test(
    'the first validate binds the machine, verbatim; from then on it alone is valid',
    inside,
    async () => {
      const { licenseKey } = await service.own.issue();
      const parts = { board_serial: 'b', disk_serial: 'd' };
      const { activation_id: id } = await activate(service, licenseKey, parts);
      const machineId = ' Ünïcode "Machine" ';
      const first = await validate(service, licenseKey, id, machineId);
      assert.equal(first.valid, true);
      const { claims } = await verifyEntitlement(service, first.entitlement, TEST_START);
      assert.equal(claims['machine'], createHash('sha256').update(machineId).digest('base64url'));
      assert.equal((await readActivation(id))?.['machine_id'], machineId);
      for (const other of [machineId.trim(), machineId.toLowerCase(), '']) {
        const answer = await validate(service, licenseKey, id, other);
        assert.deepEqual([answer.valid, answer.reason], [false, 'machine_mismatch']);
      }
      assert.equal((await validate(service, licenseKey, id, machineId)).valid, true);
      assert.equal((await readActivation(id))?.['validation_count'], 2);
    },
  );

  test('the first strong component stands in for a missing machine_id', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const uuid = randomUUID();
    const { activation_id: id } = await activate(service, licenseKey, {
      device_id: 'the last in rank',
      hardware_uuid: uuid,
    });
    assert.equal((await validate(service, licenseKey, id, uuid)).valid, true);
    assert.equal((await validate(service, licenseKey, id, 'the last in rank')).valid, false);
  });

  test('a machine_id that is no text counts as its JSON', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const { activation_id: id } = await activate(service, licenseKey, {
      machine_id: { serial: [1, 'a'] },
    });
    assert.equal((await validate(service, licenseKey, id, '{"serial":[1,"a"]}')).valid, true);
  });
});

describe('200, the token', () => {
  test('is handed out again for an hour, then signed anew', inside, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await setUp();
    const ask = async (moment: number) => {
      clock.set(new Date(TEST_START.getTime() + moment));
      return (await validate(service, licenseKey, activationId, machineId)).entitlement;
    };
    const first = await ask(0);
    assert.equal(await ask(HOUR_MS - SECOND_MS), first);
    const second = await ask(HOUR_MS);
    assert.notEqual(second, first);
    assert.equal(await ask(2 * HOUR_MS - SECOND_MS), second);
    const { claims } = await verifyEntitlement(service, second, clock.now());
    assert.equal(claims['iat'], (TEST_START.getTime() + HOUR_MS) / 1000);
  });

  test('changes with what it says', inside, async () => {
    const { licenseKey, license, activationId, machineId } = await setUp();
    const before = await validate(service, licenseKey, activationId, machineId);
    const expiresAt = new Date(TEST_START.getTime() + DAY_MS);
    await service.own.setFacts(license.id, { expires_at: expiresAt });
    const after = await validate(service, licenseKey, activationId, machineId);
    assert.notEqual(after.entitlement, before.entitlement);
    const { claims } = await verifyEntitlement(service, after.entitlement, TEST_START);
    assert.equal(claims['exp'], expiresAt.getTime() / 1000);
  });

  test('ends with the grace, at the latest after the offline days', inside, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await setUp({
      subscription: true,
      expires_at: TEST_START,
    });
    const endOf = async (moment: number) => {
      clock.set(new Date(TEST_START.getTime() + moment));
      const { entitlement } = await validate(service, licenseKey, activationId, machineId);
      const { claims } = await verifyEntitlement(service, entitlement, clock.now());
      return Number(claims['exp']) * 1000 - TEST_START.getTime();
    };
    assert.equal(await endOf(-DAY_MS), 13 * DAY_MS);
    assert.equal(await endOf(0), 14 * DAY_MS);
    assert.equal(await endOf(10 * DAY_MS), 14 * DAY_MS);
  });

  test('holds neither key nor address', inside, async () => {
    const customerEmail = 'ada@example.com';
    const { licenseKey } = await service.own.issue({ customerEmail, customerName: 'Ada' });
    const { entitlement } = await activate(service, licenseKey);
    const [, payload = ''] = (entitlement ?? '').split('.');
    const text = Buffer.from(payload, 'base64url').toString();
    for (const secret of [licenseKey, licenseKey.slice(-5), customerEmail, 'Ada']) {
      assert.ok(!text.includes(secret), secret);
    }
  });
});

describe('200, not valid', () => {
  const refusal = { valid: false, entitlement: null };
  const untimed = { expires_at: null, days_until_expiry: null };

  test('license_not_found: nothing is told of a license', async () => {
    for (const key of [anyUnknownKey(), MISTYPED_KEY, '', 'not a key']) {
      const answer = await validate(service, key, randomUUID(), 'any machine');
      assert.deepEqual(answer, {
        ...refusal,
        ...untimed,
        tier: null,
        status: 'invalid',
        reason: 'license_not_found',
      });
    }
  });

  test('activation_not_found: one that never was, or another license’s', inside, async () => {
    const { licenseKey } = await setUp();
    const other = await setUp();
    for (const id of [randomUUID(), '00000000-0000-0000-0000-000000000000', other.activationId]) {
      const answer = await validate(service, licenseKey, id, other.machineId);
      assert.deepEqual(answer, {
        ...refusal,
        ...untimed,
        tier: 'personal',
        status: 'active',
        reason: 'activation_not_found',
      });
    }
  });

  const ended = { expires_at: fromStart(0), days_until_expiry: 0 };
  const states = [
    ['expired', { expires_at: TEST_START }, ended],
    ['paused', { paused_at: TEST_START }, ended],
    ['canceled', { canceled_at: TEST_START }, ended],
    ['refunded', { refunded_at: TEST_START }, untimed],
    ['suspended', { suspended_at: TEST_START }, untimed],
    ['revoked', { revoked_at: TEST_START }, untimed],
  ] as const;

  for (const [status, facts, times] of states) {
    test(`license_${status}: its own status, and nothing is counted`, inside, async () => {
      const { licenseKey, activationId, machineId } = await setUp(facts);
      const answer = await validate(service, licenseKey, activationId, machineId);
      const reason = `license_${status}`;
      assert.deepEqual(answer, { ...refusal, ...times, tier: 'personal', status, reason });
      assert.equal((await readActivation(activationId))?.['validation_count'], 0);
    });
  }

  test('trial_expired: a trial that is over, to the second', inside, async () => {
    const machine = anyMachine();
    const trial = await startTrial(service, machine);
    const ask = async (moment: number) => {
      service.own.clock.set(new Date(TEST_START.getTime() + moment));
      const { license_key: key, activation_id: id } = trial;
      const answer = await validate(service, key, id, machine.machine_id);
      return [answer.valid, answer.status, answer.reason, answer.tier];
    };
    assert.deepEqual(await ask(7 * DAY_MS - SECOND_MS), [true, 'active', null, 'trial']);
    const over = [false, 'expired', 'trial_expired', 'trial'];
    assert.deepEqual(await ask(7 * DAY_MS), over);
    assert.deepEqual(await ask(7 * DAY_MS + SECOND_MS), over);
  });

  test('activation_inactive: the license’s own status is told', inside, async () => {
    const { licenseKey, activationId, machineId } = await setUp();
    await deactivate(service, licenseKey, activationId, machineId);
    const answer = await validate(service, licenseKey, activationId, machineId);
    assert.deepEqual(answer, {
      ...refusal,
      ...untimed,
      tier: 'personal',
      status: 'active',
      reason: 'activation_inactive',
    });
  });

  test('machine_mismatch: another machine, compared to the letter', inside, async () => {
    const { licenseKey, activationId, machineId } = await setUp();
    for (const other of ['', machineId.toUpperCase(), ` ${machineId}`]) {
      const answer = await validate(service, licenseKey, activationId, other);
      assert.deepEqual(answer, {
        ...refusal,
        ...untimed,
        tier: 'personal',
        status: 'active',
        reason: 'machine_mismatch',
      });
    }
    const [count] = [(await readActivation(activationId))?.['validation_count']];
    assert.equal(count, 0);
  });

  test(
    'the first reason that holds is told: activation unknown, license, inactive, machine',
    inside,
    async () => {
      const { licenseKey, license, activationId, machineId } = await setUp();
      await deactivate(service, licenseKey, activationId, machineId);
      const reasonFor = async (id: string) =>
        (await validate(service, licenseKey, id, 'another machine')).reason;
      assert.equal(await reasonFor(activationId), 'activation_inactive');
      await service.own.setFacts(license.id, { suspended_at: TEST_START });
      assert.equal(await reasonFor(activationId), 'license_suspended');
      assert.equal(await reasonFor(randomUUID()), 'activation_not_found');
    },
  );

  test('what was refused works again when the license does', inside, async () => {
    const { licenseKey, license, activationId, machineId } = await setUp({
      suspended_at: TEST_START,
    });
    const ask = async () => (await validate(service, licenseKey, activationId, machineId)).valid;
    assert.equal(await ask(), false);
    await service.own.setFacts(license.id, { suspended_at: null });
    assert.equal(await ask(), true);
  });
});

describe('422', () => {
  test('a machine id of more than 1,024 characters, counted as code points', async () => {
    const body = { license_key: 'k', activation_id: '8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11' };
    const long = await service.post(PATH, { ...body, machine_id: '😀'.repeat(1024) });
    assert.equal(long.status, 200);
    for (const path of [PATH, '/api/v1/licenses/deactivate']) {
      const answer = await service.post(path, { ...body, machine_id: '😀'.repeat(1025) });
      assert.equal(answer.status, 422);
      assert.deepEqual(answer.body, {
        detail: [
          {
            loc: ['body', 'machine_id'],
            msg: 'String should have at most 1024 characters',
            type: 'string_too_long',
          },
        ],
      });
    }
  });

  test('all that is wrong at once, in the order of the schema', async () => {
    const answer = await service.post(PATH, {
      trigger: 'reboot',
      usage_sharing: 1,
      install_id: '{8f14e45f-ceea-467f-a8f5-5d3b8a6e3c11}',
      machine_id: null,
      activation_id: '8f14e45fceea467fa8f55d3b8a6e3c11',
      license_key: 'a\0',
    });
    assert.equal(answer.status, 422);
    assert.deepEqual(
      faultsOf(answer.body).map(([place]) => place),
      [
        'body.license_key',
        'body.activation_id',
        'body.machine_id',
        'body.install_id',
        'body.usage_sharing',
        'body.trigger',
      ],
    );
  });
});

describeBodyRefusals(service, PATH, ['license_key', 'activation_id', 'machine_id']);

describeGuessing(
  service,
  (licenseKey, address) =>
    service.post(
      PATH,
      { license_key: licenseKey, activation_id: randomUUID(), machine_id: 'm' },
      { 'x-forwarded-for': address },
    ),
  (answer) => assert.equal(readBody(answer.body)['reason'], 'license_not_found'),
);
