import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decideFreeing, type FreeingFacts } from './decide-freeing.ts';

const now = new Date('2026-11-20T10:00:00Z');
const earlier = new Date('2026-11-10T10:00:00Z');
const later = new Date('2027-02-18T10:00:00Z');

const facts: FreeingFacts = {
  machine: { deactivatedAt: null, airgappedUntil: null },
  limit: 5,
  days: 30,
  limitReachedAt: null,
};

test('frees an active machine', () => {
  assert.deepEqual(decideFreeing(facts, now), { kind: 'free' });
});

test('a machine that is inactive stays so, whatever the limit', () => {
  const machine = { deactivatedAt: earlier, airgappedUntil: later };
  const decision = decideFreeing({ ...facts, machine, limitReachedAt: earlier }, now);
  assert.deepEqual(decision, { kind: 'already' });
});

test('refuses a machine that runs without a connection, until its entitlement ends', () => {
  const machine = { deactivatedAt: null, airgappedUntil: later };
  assert.deepEqual(decideFreeing({ ...facts, machine }, now), { kind: 'airgapped', until: later });
  assert.deepEqual(decideFreeing({ ...facts, machine }, later), { kind: 'free' });
});

test('refuses one machine more than the limit, until the oldest is older than the period', () => {
  assert.deepEqual(decideFreeing({ ...facts, limitReachedAt: earlier }, now), {
    kind: 'limit',
    limit: 5,
    days: 30,
    availableAt: new Date('2026-12-10T10:00:00Z'),
  });
});
