import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { HashedIdentity } from '../fingerprint/identity.ts';
import { decideActivation } from './decide-activation.ts';
import { decideDeactivation, decideValidation } from './decide-validation.ts';
import type { ActivationFacts, LicenseStatusFacts } from './facts.ts';
import type { LicenseStatus } from './status.ts';
import { at, DAY_MS, perpetual, plus } from './status-facts.fixture.ts';

const now = at('2026-03-01T12:00:00Z');
const past = plus(now, -DAY_MS);
const license = { ...perpetual, maxActivations: 2 };
const activation: ActivationFacts = {
  id: '0193a1b2-0000-7000-8000-0000000000a1',
  licenseId: license.id,
  machineId: 'Machine-1',
  deactivatedAt: null,
};

const unusable: readonly [Partial<LicenseStatusFacts>, LicenseStatus, string][] = [
  [{ revokedAt: past }, 'revoked', 'license_revoked'],
  [{ refundedAt: past }, 'refunded', 'license_refunded'],
  [{ suspendedAt: past }, 'suspended', 'license_suspended'],
  [{ pausedAt: past }, 'paused', 'license_paused'],
  [{ canceledAt: past }, 'canceled', 'license_canceled'],
  [{ expiresAt: past }, 'expired', 'license_expired'],
  [{ expiresAt: past, trial: true }, 'expired', 'trial_expired'],
  [{ revokedAt: past, expiresAt: past, trial: true }, 'revoked', 'license_revoked'],
];

test('a validation on the bound machine is valid', () => {
  const expiresAt = plus(now, DAY_MS);
  assert.deepEqual(decideValidation({ ...license, expiresAt }, activation, 'Machine-1', now), {
    valid: true,
    status: 'active',
    expiresAt,
    bindMachineId: null,
  });
});

test('a validation in the grace period is valid with status past_due', () => {
  const late = { ...license, subscription: true, expiresAt: past };
  assert.deepEqual(decideValidation(late, activation, 'Machine-1', now), {
    valid: true,
    status: 'past_due',
    expiresAt: past,
    bindMachineId: null,
  });
});

test('the first validation of an unbound activation binds the machine id as it was sent', () => {
  const unbound = { ...activation, machineId: null };
  assert.deepEqual(decideValidation(license, unbound, ' x ', now), {
    valid: true,
    status: 'active',
    expiresAt: null,
    bindMachineId: ' x ',
  });
});

test('machine ids are compared verbatim', () => {
  for (const machineId of ['machine-1', 'Machine-1 ', 'Machine-2', '']) {
    const decision = decideValidation(license, activation, machineId, now);
    assert.deepEqual(decision, {
      valid: false,
      status: 'active',
      reason: 'machine_mismatch',
      expiresAt: null,
    });
  }
});

for (const [facts, status, reason] of unusable) {
  test(`a validation of a license with ${Object.keys(facts).join(' and ')} is refused with ${reason}`, () => {
    const decision = decideValidation({ ...license, ...facts }, activation, 'Machine-1', now);
    const expiresAt = facts.pausedAt ?? facts.canceledAt ?? facts.expiresAt ?? null;
    assert.deepEqual(decision, { valid: false, status, reason, expiresAt });
  });
}

function reasonOf(facts: LicenseStatusFacts, activated: ActivationFacts | null): string {
  const decision = decideValidation(facts, activated, 'Machine-2', now);
  return decision.valid ? 'valid' : decision.reason;
}

test('the first reason that applies is returned', () => {
  const ended = { ...license, revokedAt: past };
  const inactive = { ...activation, deactivatedAt: past };
  const other = { ...activation, licenseId: '0193a1b2-0000-7000-8000-000000000002' };
  assert.equal(reasonOf(ended, null), 'activation_not_found');
  assert.equal(reasonOf(ended, other), 'activation_not_found');
  assert.equal(reasonOf(ended, inactive), 'license_revoked');
  assert.equal(reasonOf(license, inactive), 'activation_inactive');
  assert.equal(reasonOf(license, activation), 'machine_mismatch');
});

test('the status of a refused activation is the license’s own', () => {
  const late = { ...license, subscription: true, expiresAt: past };
  for (const presented of [null, { ...activation, deactivatedAt: past }, activation]) {
    assert.equal(decideValidation(late, presented, 'Machine-2', now).status, 'past_due');
  }
});

function machine(name: string): HashedIdentity {
  return { strong: [`machineid:${name}`], medium: [], weak: [], digest: name };
}

const active = [
  { activationId: 'first', identity: machine('a') },
  { activationId: 'second', identity: machine('b') },
];

test('an active machine gets its existing activation, also at and above the limit', () => {
  for (const maxActivations of [2, 1]) {
    const limited = { ...license, maxActivations };
    assert.deepEqual(decideActivation(limited, active.length, active, machine('b'), now), {
      kind: 'existing',
      status: 'active',
      activation: active[1],
    });
  }
});

test('a new machine gets an activation below the limit, and a refusal at it', () => {
  const allowed = { kind: 'new', status: 'active' };
  assert.deepEqual(decideActivation(license, 0, [], machine('c'), now), allowed);
  assert.deepEqual(decideActivation(license, 1, active.slice(1), machine('c'), now), allowed);
  assert.deepEqual(decideActivation(license, active.length, active, machine('c'), now), {
    kind: 'limit',
    max: 2,
    current: 2,
  });
});

test('an unusable license refuses every machine, also an active one', () => {
  for (const [facts, status] of unusable) {
    const ended = { ...license, ...facts };
    const decision = decideActivation(ended, active.length, active, machine('a'), now);
    assert.deepEqual(decision, { kind: 'refused', status });
  }
});

test('a shared strong component is preferred to similar parts', () => {
  const parts = ['diskserial:1', 'tpm:1'];
  const alike = { strong: ['machineid:old'], medium: parts, weak: [], digest: 'x' };
  const sure = { strong: ['machineid:new'], medium: [], weak: [], digest: 'y' };
  const presented = { strong: ['machineid:new'], medium: parts, weak: [], digest: 'z' };
  const both = [
    { activationId: 'alike', identity: alike },
    { activationId: 'sure', identity: sure },
  ];
  assert.deepEqual(decideActivation(license, 2, both, presented, now), {
    kind: 'existing',
    status: 'active',
    activation: both[1],
  });
});

test('a deactivation requires the activation and its machine', () => {
  const other = { ...activation, licenseId: 'another' };
  assert.equal(decideDeactivation(license, null, 'x'), 'activation_not_found');
  assert.equal(decideDeactivation(license, other, 'x'), 'activation_not_found');
  assert.equal(decideDeactivation(license, activation, 'x'), 'machine_mismatch');
  assert.equal(decideDeactivation(license, activation, 'Machine-1'), 'deactivate');
});

test('an unbound activation can be deactivated by any machine, and an inactive one stays so', () => {
  const unbound = { ...activation, machineId: null };
  assert.equal(decideDeactivation(license, unbound, 'anything'), 'deactivate');
  const inactive = { ...activation, deactivatedAt: past };
  assert.equal(decideDeactivation(license, inactive, 'Machine-1'), 'already');
});
