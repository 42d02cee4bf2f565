import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { ReplicaState } from '#server/db/replica/replica-state.ts';

import { judgeHost, reportUnavailable } from './check-hosts.ts';

const primary = { systemId: '7', startedAt: '100.5', position: '0/1501260', timeline: 1 };
const standby: ReplicaState = {
  systemId: '7',
  startedAt: '200.5',
  inRecovery: true,
  timeline: 1,
  isComplete: true,
  ageMs: 3_600_000,
};

function problemsOf(changes: Partial<ReplicaState>): string[] {
  const findings = judgeHost('db2:5432', primary, { ...standby, ...changes });
  return findings.map(({ status, code, cause }) => `${status} ${code}: ${cause}`);
}

test('accepts the primary under another name, a complete standby, and one that is little behind', () => {
  assert.deepEqual(problemsOf({ startedAt: '100.5', inRecovery: false }), []);
  assert.deepEqual(problemsOf({}), []);
  assert.deepEqual(problemsOf({ isComplete: false, ageMs: 60_000 }), []);
});

test('reports a standby that is behind', () => {
  assert.deepEqual(problemsOf({ isComplete: false, ageMs: 90_000 }), [
    'warning database.standby_behind: The standby db2:5432 is 90 s behind.',
  ]);
  assert.deepEqual(problemsOf({ isComplete: false, ageMs: null }), [
    'warning database.standby_behind: The standby db2:5432 has replayed nothing.',
  ]);
});

test('tells a standby with a wrong certificate from one that is down', () => {
  const down = reportUnavailable('db2:5432', new Error('connect ECONNREFUSED'));
  assert.deepEqual(
    [down.code, down.fix],
    ['database.host_unavailable', 'Start it as a standby of the primary.'],
  );
  const error = Object.assign(new Error('expired'), { code: 'CERT_HAS_EXPIRED' });
  const refused = reportUnavailable('db2:5432', error);
  assert.equal(refused.code, 'database.host_refused');
  assert.match(refused.cause ?? '', /a certificate that has expired/u);
  assert.equal(refused.fix, 'Renew it on the server, and check the clock of this machine.');
});

test('reports a second primary, and another database', () => {
  assert.deepEqual(problemsOf({ inRecovery: false }), [
    'failed database.second_primary: db2:5432 is a second primary, probably the one from before a failover.',
  ]);
  assert.deepEqual(problemsOf({ systemId: '8' }), [
    'failed database.other_database: db2:5432 is no copy of the primary.',
  ]);
});
