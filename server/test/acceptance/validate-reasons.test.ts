import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import {
  anyMachine,
  anyUnknownKey,
  deactivate,
  MISTYPED_KEY,
  startTrial,
  validate,
} from '../license-steps.ts';
import { DAY_MS, fromStart, SECOND_MS, TEST_START } from '../test-clock.ts';
import { inProcess, openAcceptanceService } from './acceptance-service.ts';
import { issueActivatedLicense, readActivation } from './activated-license.ts';

const service = await openAcceptanceService();

describe('200, not valid', () => {
  const refusal = { valid: false, entitlement: null };
  const untimed = { expires_at: null, days_until_expiry: null };

  test('license_not_found: reports no fact of a license', async () => {
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

  test('activation_not_found: an unknown activation, or another license’s', inProcess, async () => {
    const { licenseKey } = await issueActivatedLicense(service);
    const other = await issueActivatedLicense(service);
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
    test(`license_${status}: its own status, and nothing is counted`, inProcess, async () => {
      const { licenseKey, activationId, machineId } = await issueActivatedLicense(service, facts);
      const answer = await validate(service, licenseKey, activationId, machineId);
      const reason = `license_${status}`;
      assert.deepEqual(answer, { ...refusal, ...times, tier: 'personal', status, reason });
      assert.equal((await readActivation(service, activationId))?.['validation_count'], 0);
    });
  }

  test('trial_expired: an expired trial, to the second', inProcess, async () => {
    const machine = anyMachine();
    const trial = await startTrial(service, machine);
    const ask = async (offsetMs: number) => {
      service.own.clock.set(new Date(TEST_START.getTime() + offsetMs));
      const { license_key: key, activation_id: id } = trial;
      const answer = await validate(service, key, id, machine.machine_id);
      return [answer.valid, answer.status, answer.reason, answer.tier];
    };
    assert.deepEqual(await ask(7 * DAY_MS - SECOND_MS), [true, 'active', null, 'trial']);
    const over = [false, 'expired', 'trial_expired', 'trial'];
    assert.deepEqual(await ask(7 * DAY_MS), over);
    assert.deepEqual(await ask(7 * DAY_MS + SECOND_MS), over);
  });

  test('activation_inactive: reports the license’s own status', inProcess, async () => {
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service);
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

  test('machine_mismatch: another machine, compared verbatim', inProcess, async () => {
    const { licenseKey, activationId, machineId } = await issueActivatedLicense(service);
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
    const [count] = [(await readActivation(service, activationId))?.['validation_count']];
    assert.equal(count, 0);
  });

  test(
    'reports the first reason that applies: activation unknown, license, inactive, machine',
    inProcess,
    async () => {
      const { licenseKey, license, activationId, machineId } = await issueActivatedLicense(service);
      await deactivate(service, licenseKey, activationId, machineId);
      const reasonFor = async (id: string) =>
        (await validate(service, licenseKey, id, 'another machine')).reason;
      assert.equal(await reasonFor(activationId), 'activation_inactive');
      await service.own.setFacts(license.id, { suspended_at: TEST_START });
      assert.equal(await reasonFor(activationId), 'license_suspended');
      assert.equal(await reasonFor(randomUUID()), 'activation_not_found');
    },
  );

  test('a refused activation is valid again when its license is usable', inProcess, async () => {
    const { licenseKey, license, activationId, machineId } = await issueActivatedLicense(service, {
      suspended_at: TEST_START,
    });
    const ask = async () => (await validate(service, licenseKey, activationId, machineId)).valid;
    assert.equal(await ask(), false);
    await service.own.setFacts(license.id, { suspended_at: null });
    assert.equal(await ask(), true);
  });
});
