import assert from 'node:assert/strict';
import { test } from 'node:test';

import { joinRun } from './join-run.ts';
import { NOTHING_KEPT, type Kept } from './kept.ts';

const FILE: Kept = {
  ...NOTHING_KEPT,
  key: 'LK-FILE',
  activationId: 'a',
  entitlement: 'file.e.e',
  clock: { offsetMs: 5, latestMs: 9 },
  machine: { machine_id: 'm' },
  installId: 'i',
  sharing: true,
  release: { key: 'LK-OLD', activationId: 'old', machineId: 'm' },
  lastAnswerAt: '2027-01-15T08:00:00.000Z',
  others: { seats: 1 },
};

const KEY = { kty: 'OKP', crv: 'Ed25519', x: 'x', kid: 'any' };

const RUN: Kept = { ...NOTHING_KEPT, machine: { machine_id: 'm' } };

const LICENSED_RUN: Kept = { ...RUN, key: 'LK-RUN', activationId: 'b', entitlement: 'run.e.e' };

test('a run that changed nothing leaves the file as it is', () => {
  assert.deepEqual(joinRun(FILE, NOTHING_KEPT, false), FILE);
  assert.deepEqual(joinRun(FILE, RUN, false), FILE);
});

test('everything of the run is kept beside a file without anything', () => {
  const run: Kept = { ...FILE, keys: [KEY], others: {} };
  for (const hasOwnLicense of [true, false]) {
    assert.deepEqual(joinRun(NOTHING_KEPT, run, hasOwnLicense), run);
  }
});

test('a trial does not replace a license, and is kept if there is none', () => {
  const { key, activationId, entitlement } = LICENSED_RUN;
  assert.deepEqual(joinRun(FILE, LICENSED_RUN, false), FILE);
  const file = { ...FILE, key: null, activationId: null, entitlement: null };
  const expected = { ...file, key, activationId, entitlement };
  assert.deepEqual(joinRun(file, LICENSED_RUN, false), expected);
});

test('a trial of the run that waits for its release is released', () => {
  const release = { key: 'LK-RUN', activationId: 'b', machineId: 'm' };
  assert.deepEqual(joinRun(FILE, { ...LICENSED_RUN, release }, false), { ...FILE, release });
});

test('a trial replaces an older copy of itself', () => {
  const file: Kept = { ...FILE, refused: { reason: 'trial_expired', at: '' } };
  const run: Kept = { ...LICENSED_RUN, activationId: 'a' };
  const { key, entitlement } = run;
  assert.deepEqual(joinRun(file, run, false), { ...FILE, key, entitlement });
});

test('an activated license replaces that of the file, and a machine waits for its release', () => {
  const { key, activationId, entitlement } = LICENSED_RUN;
  const expected = { ...FILE, key, activationId, entitlement };
  assert.deepEqual(joinRun(FILE, LICENSED_RUN, true), expected);
});

test('an activation that was released in the file is wanted again', () => {
  const run = { ...LICENSED_RUN, activationId: 'old' };
  assert.equal(joinRun(FILE, run, true).release, null);
  assert.equal(joinRun(FILE, run, false).release, null);
});

test('a license that was removed by the run stays removed', () => {
  const { key, activationId, entitlement } = joinRun(FILE, RUN, true);
  assert.deepEqual([key, activationId, entitlement], [null, null, null]);
});

test('the answer to a machine without a connection keeps the key of its activation', () => {
  const run: Kept = { ...RUN, activationId: 'a', entitlement: 'run.e.e' };
  assert.equal(joinRun(FILE, run, true).key, 'LK-FILE');
  assert.equal(joinRun(FILE, { ...run, activationId: 'b' }, true).key, null);
});

test('a trial that is wanted is kept unless the file has a license', () => {
  const run = { ...RUN, trialWanted: true };
  assert.equal(joinRun(FILE, run, false).trialWanted, false);
  assert.equal(joinRun({ ...FILE, key: null }, run, false).trialWanted, false);
  assert.equal(joinRun({ ...FILE, key: null, entitlement: null }, run, false).trialWanted, true);
  assert.equal(joinRun({ ...FILE, key: null, trialWanted: true }, RUN, false).trialWanted, true);
});

function joinClock(latestMs: number): Kept['clock'] {
  return joinRun(FILE, { ...RUN, clock: { offsetMs: 7, latestMs } }, false).clock;
}

test('the latest time never decreases', () => {
  assert.deepEqual(joinClock(0), { offsetMs: 5, latestMs: 9 });
  assert.deepEqual(joinClock(8), { offsetMs: 7, latestMs: 9 });
  assert.deepEqual(joinClock(10), { offsetMs: 7, latestMs: 10 });
});

test('consent follows the run, and the id of the installation the file', () => {
  const joined = joinRun(FILE, { ...RUN, sharing: false, installId: 'new' }, false);
  assert.deepEqual([joined.sharing, joined.installId], [false, 'i']);
  const first = joinRun({ ...FILE, installId: null }, { ...RUN, installId: 'new' }, false);
  assert.equal(first.installId, 'new');
});

test('a random identity of the machine counts only with its license', () => {
  const machine = { machine_id: 'generated-u' };
  assert.deepEqual(joinRun(FILE, { ...LICENSED_RUN, machine }, false).machine, FILE.machine);
  assert.deepEqual(joinRun(FILE, { ...LICENSED_RUN, machine }, true).machine, machine);
  assert.deepEqual(joinRun({ ...FILE, machine }, RUN, false).machine, machine);
  assert.deepEqual(
    joinRun({ ...FILE, machine: null }, { ...RUN, machine }, false).machine,
    machine,
  );
});

test('fetched keys are those of the license that remains', () => {
  const [old, fetched] = [[KEY], [{ ...KEY, kid: 'new' }]];
  assert.deepEqual(joinRun({ ...FILE, keys: old }, { ...RUN, keys: fetched }, false).keys, old);
  assert.deepEqual(joinRun({ ...FILE, keys: old }, { ...RUN, keys: fetched }, true).keys, fetched);
  assert.deepEqual(joinRun(FILE, { ...RUN, keys: fetched }, false).keys, fetched);
});
