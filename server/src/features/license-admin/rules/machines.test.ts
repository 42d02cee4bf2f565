import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readMachineFacts, viewMachine } from './machines.ts';

const DAY_MS = 86_400_000;
const start = new Date('2026-11-20T10:00:00Z');
const day = (count: number): Date => new Date(start.getTime() + count * DAY_MS);

const machine = {
  id: '0190a6b2-7c1e-7d32-9c41-3f5f0a1b2c3d',
  machineId: '4c4c4544-0044',
  osVersion: null,
  appVersion: null,
  versionsReportedAt: start,
  activatedAt: start,
  deactivatedAt: null,
  lastValidatedAt: start,
  validationCount: 0,
  airgappedUntil: null,
};

const airgapped = { ...machine, airgappedUntil: day(90) };

function untilOf(activation: typeof machine | typeof airgapped, usableUntil: Date | null = null) {
  return viewMachine(activation, null, 14, usableUntil).offline_until;
}

test('a machine runs offline from its last validation, or until the end of the license', () => {
  assert.equal(untilOf(machine), day(14).toISOString());
  assert.equal(untilOf(machine, day(3)), day(3).toISOString());
});

test('a machine without a connection runs until its entitlement ends', () => {
  assert.equal(untilOf(airgapped), day(90).toISOString());
});

test('the end of that entitlement is shown, also of a machine that was deactivated', () => {
  for (const deactivatedAt of [null, day(1)]) {
    const { airgapped_until: until } = viewMachine({ ...airgapped, deactivatedAt }, null, 14, null);
    assert.equal(until, day(90).toISOString());
  }
  assert.equal(viewMachine(machine, null, 14, null).airgapped_until, null);
});

function overdueAt(now: Date): number {
  return readMachineFacts([machine, airgapped], [], 2, 14, now).overdue;
}

test('a machine without a connection is overdue only after its entitlement', () => {
  assert.deepEqual([overdueAt(day(14)), overdueAt(day(15)), overdueAt(day(90))], [0, 1, 2]);
});
