import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import {
  activate,
  anyMachine,
  anyUnknownKey,
  deactivate,
  listMachines,
  MISTYPED_KEY,
  validate,
} from '../license-steps.ts';
import { HOUR_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService, withLicense } from './acceptance-service.ts';
import { validationErrorsOf, problem } from './bodies.ts';
import { describeBodyRefusals, describeGuessing } from './common-refusals.ts';

const PATH = '/api/v1/licenses/deactivate';

const service = await openAcceptanceService();

/** Issues a license with one active machine. */
async function setUp() {
  const licenseKey = await service.issueKey();
  const machine = anyMachine();
  const { activation_id: activationId } = await activate(service, licenseKey, machine);
  return { licenseKey, activationId, machineId: machine.machine_id };
}

function ask(
  licenseKey: string,
  activationId: string,
  machineId: string,
  headers: Record<string, string> = {},
) {
  const body = { license_key: licenseKey, activation_id: activationId, machine_id: machineId };
  return service.post(PATH, body, headers);
}

describe('200', () => {
  test('deactivates a machine, and can be repeated', withLicense, async () => {
    const { licenseKey, activationId, machineId } = await setUp();
    const first = await ask(licenseKey, activationId.toUpperCase(), machineId);
    assert.equal(first.status, 200);
    assert.deepEqual(first.body, {
      success: true,
      message: 'The activation was deactivated.',
      activation_id: activationId,
    });
    const second = await ask(licenseKey, activationId, machineId);
    assert.equal(second.status, 200);
    assert.deepEqual(second.body, {
      success: true,
      message: 'The activation was inactive already.',
      activation_id: activationId,
    });
    const machines = await listMachines(service, licenseKey);
    assert.deepEqual(
      machines.map((machine) => machine.is_active),
      [false],
    );
    const answer = await validate(service, licenseKey, activationId, machineId);
    assert.deepEqual([answer.valid, answer.reason], [false, 'activation_inactive']);
  });

  test(
    'a repetition keeps the time of the first, and changes no other row',
    inProcess,
    async () => {
      const { pool, clock } = service.own;
      const { licenseKey, activationId, machineId } = await setUp();
      const other = await activate(service, licenseKey);
      await deactivate(service, licenseKey, activationId, machineId);
      clock.advance(HOUR_MS);
      await deactivate(service, licenseKey, activationId, machineId);
      const { rows } = await pool.query(
        'select id, deactivated_at from activations where id = any ($1) order by deactivated_at',
        [[activationId, other.activation_id]],
      );
      assert.deepEqual(rows, [
        { id: activationId, deactivated_at: TEST_START },
        { id: other.activation_id, deactivated_at: null },
      ]);
    },
  );

  const states = [
    'expires_at',
    'paused_at',
    'canceled_at',
    'refunded_at',
    'suspended_at',
    'revoked_at',
  ] as const;
  for (const state of states) {
    test(`deactivates with license status ${state}`, inProcess, async () => {
      const { licenseKey, license } = await service.own.issue();
      const machine = anyMachine();
      const { activation_id: id } = await activate(service, licenseKey, machine);
      await service.own.setFacts(license.id, { [state]: TEST_START });
      await deactivate(service, licenseKey, id, machine.machine_id);
    });
  }

  test('any machine_id deactivates an unbound activation', withLicense, async () => {
    const licenseKey = await service.issueKey();
    const parts = { board_serial: 'b', disk_serial: 'd' };
    const { activation_id: id } = await activate(service, licenseKey, parts);
    await deactivate(service, licenseKey, id, 'whatever');
  });
});

describe('403', () => {
  test('machine_mismatch: another machine stays active', withLicense, async () => {
    const { licenseKey, activationId, machineId } = await setUp();
    for (const other of ['', machineId.toUpperCase(), anyMachine().machine_id]) {
      const answer = await ask(licenseKey, activationId, other);
      assert.deepEqual([answer.status, answer.body], [403, problem('machine_mismatch')]);
    }
    assert.equal((await validate(service, licenseKey, activationId, machineId)).valid, true);
  });

  test(
    'machine_mismatch: also when inactive, and when the first validation has bound it',
    withLicense,
    async () => {
      const { licenseKey, activationId, machineId } = await setUp();
      await deactivate(service, licenseKey, activationId, machineId);
      assert.equal((await ask(licenseKey, activationId, 'another')).status, 403);
      const parts = { board_serial: 'b', disk_serial: 'd' };
      const { activation_id: id } = await activate(service, licenseKey, parts);
      await validate(service, licenseKey, id, 'bound');
      assert.equal((await ask(licenseKey, id, 'another')).status, 403);
      assert.equal((await ask(licenseKey, id, 'bound')).status, 200);
    },
  );
});

describe('404', () => {
  test('license_not_found: an unknown key', withLicense, async () => {
    const { activationId, machineId } = await setUp();
    for (const key of [anyUnknownKey(), MISTYPED_KEY, '']) {
      const answer = await ask(key, activationId, machineId);
      assert.deepEqual([answer.status, answer.body], [404, problem('license_not_found')]);
    }
  });

  test(
    'activation_not_found: an unknown activation, or another license’s',
    withLicense,
    async () => {
      const { licenseKey, machineId } = await setUp();
      const other = await setUp();
      for (const id of [randomUUID(), other.activationId]) {
        const answer = await ask(licenseKey, id, machineId);
        assert.deepEqual([answer.status, answer.body], [404, problem('activation_not_found')]);
      }
      const { licenseKey: key, activationId: id, machineId: machine } = other;
      assert.equal((await validate(service, key, id, machine)).valid, true);
    },
  );
});

describe('422', () => {
  test('reports all problems at once, in the order of the schema', async () => {
    const answer = await service.post(PATH, {
      machine_id: '\ud800',
      activation_id: 'no uuid',
      license_key: ['LK'],
    });
    assert.equal(answer.status, 422);
    assert.deepEqual(
      validationErrorsOf(answer.body).map(([place]) => place),
      ['body.license_key', 'body.activation_id', 'body.machine_id'],
    );
  });
});

describeBodyRefusals(service, PATH, ['license_key', 'activation_id', 'machine_id']);

describeGuessing(
  service,
  (licenseKey, address) => ask(licenseKey, randomUUID(), 'm', { 'x-forwarded-for': address }),
  (answer) => assert.deepEqual(answer.body, problem('license_not_found')),
);
