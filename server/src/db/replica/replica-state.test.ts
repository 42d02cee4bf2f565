import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findReplicaProblem, type ReplicaState } from './replica-state.ts';

const primary = { systemId: '7', startedAt: '100.5', position: '0/1501260', timeline: 2 };
const standby: ReplicaState = {
  systemId: '7',
  startedAt: '200.5',
  inRecovery: true,
  timeline: 2,
  isComplete: false,
  ageMs: 90_400,
};

function problemOf(changes: Partial<ReplicaState>, maxLagMs: number | null = 60_000) {
  return findReplicaProblem(primary, { ...standby, ...changes }, maxLagMs);
}

test('accepts a replica that is complete, or not too far behind, and the primary itself', () => {
  assert.equal(problemOf({ isComplete: true }), null);
  assert.equal(problemOf({ isComplete: true }, null), null);
  assert.equal(problemOf({ ageMs: 60_000 }), null);
  assert.equal(problemOf({ startedAt: '100.5', inRecovery: false }, null), null);
});

test('reports why a replica must not be read', () => {
  assert.equal(problemOf({}), 'it is 90 s behind, and 60 s are allowed');
  assert.equal(problemOf({ ageMs: 1 }, null), 'it does not have the last changes');
  assert.equal(problemOf({ ageMs: null }), 'it has replayed nothing since it started');
  assert.equal(
    problemOf({ timeline: 1, isComplete: true }),
    'it is on timeline 1, and the primary on 2',
  );
  assert.equal(
    problemOf({ inRecovery: false, isComplete: true }),
    'it is no standby, but a second primary',
  );
  assert.equal(
    problemOf({ systemId: '8', isComplete: true }),
    'it is a replica of another database',
  );
});
