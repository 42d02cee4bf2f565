import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { VALIDATION_TRIGGERS } from '@latchkey/contract';

import { verifyEntitlement } from '../entitlements.ts';
import { activate, anyMachine, listMachines, validate } from '../license-steps.ts';
import { DAY_MS, fromStart, HOUR_MS, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService, withLicense } from './acceptance-service.ts';
import { issueActivatedLicense, readActivation } from './activated-license.ts';
import { validationErrorsOf, readBody } from './bodies.ts';
import { describeBodyRefusals, describeGuessing } from './common-refusals.ts';

const PATH = '/api/v1/licenses/validate';

const service = await openAcceptanceService();

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

  test('accepts every trigger', withLicense, async () => {
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

  test('rounds the days left up, and ends a fixed term at its second', inProcess, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service, {
      expires_at: new Date(TEST_START.getTime() + 2 * DAY_MS),
    });
    const ask = async (offsetMs: number) => {
      clock.set(new Date(TEST_START.getTime() + offsetMs));
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

  test('a subscription is past_due for 14 days after the paid period', inProcess, async () => {
    const { clock } = service.own;
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service, {
      subscription: true,
      expires_at: TEST_START,
    });
    const ask = async (offsetMs: number) => {
      clock.set(new Date(TEST_START.getTime() + offsetMs));
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

  test('a scheduled cancellation ends the grace period', inProcess, async () => {
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service, {
      subscription: true,
      expires_at: TEST_START,
      cancel_scheduled_for: TEST_START,
    });
    const answer = await validate(service, licenseKey, activationId, machineId);
    assert.deepEqual([answer.valid, answer.reason], [false, 'license_expired']);
  });

  test('a valid answer is counted with its time; the count starts at 0', inProcess, async () => {
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service);
    const before = await readActivation(service, activationId);
    assert.deepEqual(
      [before?.['validation_count'], before?.['last_validated_at']],
      [0, TEST_START],
    );
    service.own.clock.advance(HOUR_MS);
    for (let times = 0; times < 3; times++) {
      await validate(service, licenseKey, activationId, machineId);
    }
    const after = await readActivation(service, activationId);
    assert.equal(after?.['validation_count'], 3);
    assert.deepEqual(after?.['last_validated_at'], new Date(TEST_START.getTime() + HOUR_MS));
  });

  test('install_id and usage_sharing are stored, and null erases neither', inProcess, async () => {
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service);
    const installId = randomUUID();
    const body = { license_key: licenseKey, activation_id: activationId, machine_id: machineId };
    await service.post(PATH, { ...body, install_id: installId, usage_sharing: false });
    await service.post(PATH, { ...body, install_id: null, usage_sharing: null });
    await service.post(PATH, body);
    const stored = await readActivation(service, activationId);
    assert.deepEqual([stored?.['install_id'], stored?.['usage_sharing']], [installId, false]);
    await service.post(PATH, { ...body, usage_sharing: true });
    assert.equal((await readActivation(service, activationId))?.['usage_sharing'], true);
  });

  test(
    'the first validation binds the machine verbatim; then no other is valid',
    inProcess,
    async () => {
      const { licenseKey } = await service.own.issue();
      const parts = { board_serial: 'b', disk_serial: 'd' };
      const { activation_id: id } = await activate(service, licenseKey, parts);
      const machineId = ' Ünïcode "Machine" ';
      const first = await validate(service, licenseKey, id, machineId);
      assert.equal(first.valid, true);
      const { claims } = await verifyEntitlement(service, first.entitlement, TEST_START);
      assert.equal(claims['machine'], createHash('sha256').update(machineId).digest('base64url'));
      assert.equal((await readActivation(service, id))?.['machine_id'], machineId);
      for (const other of [machineId.trim(), machineId.toLowerCase(), '']) {
        const answer = await validate(service, licenseKey, id, other);
        assert.deepEqual([answer.valid, answer.reason], [false, 'machine_mismatch']);
      }
      assert.equal((await validate(service, licenseKey, id, machineId)).valid, true);
      assert.equal((await readActivation(service, id))?.['validation_count'], 2);
    },
  );

  test('the first strong component replaces a missing machine_id', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const uuid = randomUUID();
    const { activation_id: id } = await activate(service, licenseKey, {
      device_id: 'the last in rank',
      hardware_uuid: uuid,
    });
    assert.equal((await validate(service, licenseKey, id, uuid)).valid, true);
    assert.equal((await validate(service, licenseKey, id, 'the last in rank')).valid, false);
  });

  test('a machine_id that is not text is compared as JSON', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const { activation_id: id } = await activate(service, licenseKey, {
      machine_id: { serial: [1, 'a'] },
    });
    assert.equal((await validate(service, licenseKey, id, '{"serial":[1,"a"]}')).valid, true);
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

  test('reports all problems at once, in the order of the schema', async () => {
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
      validationErrorsOf(answer.body).map(([place]) => place),
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
